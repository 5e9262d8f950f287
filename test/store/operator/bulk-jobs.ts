import { setTimeout } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import type { BulkJob, JobChoice } from "#pigeonhole/store/bulk-jobs.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { Store } from "#pigeonhole/store/store.js";
import { expectCode, DAY, newEvent, settlements } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import type { StoreKind } from "../conformance/fixture.js";
import { openAnother, openBoth } from "./open-both.js";
import { operate } from "../../support/operate.js";

let store: Store;
let inbox: InboxOperator;
let place: string;
let execute: Awaited<ReturnType<typeof openBoth>>["execute"];

async function acceptDead(count: number, type = "email.sent"): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await store.settle(settlements.dead(await acceptLeased(store, `${type}_${index}`, { type })));
  }
}

async function runAll(of: InboxOperator = inbox): Promise<number> {
  for (let pages = 0; ; pages += 1) if ((await of.runJobPage()) === undefined) return pages;
}

const deadCount = async (): Promise<number> => (await inbox.overview()).events.dead;

/** No event and no job mentions it. */
const EMAIL = "ann@example.com";

const erasures = {
  operator: () => inbox.erase({ email: EMAIL }),
  receiver: () => operate(store).erase({ email: EMAIL }),
};

/** Changes of much work, a page at a time, from outside the receiver. */
export function describeBulkJobs(kind: StoreKind): void {
  const many = kind.page + 30;

  beforeEach(async () => {
    ({ store, inbox, place, execute } = await openBoth(kind));
  });

  test("a job retries what it has chosen in small pages, and tells how far it is", async () => {
    await acceptDead(many);
    await acceptDead(2, "email.failed");
    await store.accept(newEvent("n", { work: [], parked: { reason: "unknown_type", detail: "" } }));
    const request = { action: "retry", choice: { type: "email.sent" } } as const;
    expect(await inbox.countWork(request.action, request.choice)).toEqual({ events: many, work: many });
    const job = await inbox.createJob({ ...request, by: "ann" });
    const filter = { type: "email.sent", handler: null, since: null, chosen: null };
    expect(job).toMatchObject({ action: "retry", filter, by: "ann", state: "open", total: many, done: 0 });
    const first: BulkJob | undefined = await inbox.runJobPage();
    expect(first).toMatchObject({ id: job.id, state: "open" });
    expect(first?.done).toBeGreaterThan(0);
    expect(first?.done).toBeLessThan(many);
    await runAll();
    expect(await inbox.getJob(job.id)).toMatchObject({ state: "done", done: many, error: null });
    expect(await deadCount()).toBe(2);
    expect(await inbox.runJobPage()).toBeUndefined();
  });

  test("a job runs now what waits for its next run", async () => {
    for (const id of ["a", "b"]) {
      await store.settle(settlements.pending(await acceptLeased(store, id), Date.now() + DAY));
    }
    const { id } = await inbox.createJob({ action: "run", choice: { ids: ["b"] }, by: "ann" });
    await runAll();
    expect(await inbox.getJob(id)).toMatchObject({ state: "done", total: 1, done: 1 });
    expect(await inbox.countWork("run", {})).toEqual({ events: 1, work: 1 });
  });

  test.each(["discard", "run"] as const)("a job to %s leaves what failed after it was created", async (action) => {
    const fail = async (id: string, at: number): Promise<void> => {
      const lease = await acceptLeased(store, id);
      const failed = action === "run" ? settlements.pending(lease, Date.now() + DAY) : settlements.dead(lease);
      await store.settle({ ...failed, at, stack: "it failed" });
    };
    await fail("before", 1);
    // Written before the clock was set back.
    await fail("later", Date.now() + DAY);
    const { id, createdAt } = await inbox.createJob({ action, choice: {}, by: "ann" });
    await fail("after", Date.parse(createdAt) + 1);
    await setTimeout(5);
    await runAll();
    expect(await inbox.getJob(id)).toMatchObject({ state: "done", total: 2, done: 2 });
    expect(await inbox.countWork(action, {})).toEqual({ events: 1, work: 1 });
  });

  test.each(["retry", "discard", "run"] as const)(
    "a second job to %s the same work says that it had been changed before",
    async (action) => {
      for (const id of ["a", "b", "c"]) {
        const lease = await acceptLeased(store, id);
        await store.settle(action === "run" ? settlements.pending(lease, Date.now() + DAY) : settlements.dead(lease));
      }
      const job = { action, choice: {}, by: "ann" } as const;
      const [first, second] = [await inbox.createJob(job), await inbox.createJob(job)];
      expect([first, second]).toMatchObject([
        { total: 3, changedBefore: 0 },
        { total: 3, changedBefore: 0 },
      ]);
      await runAll();
      expect(await inbox.getJob(first.id)).toMatchObject({ state: "done", done: 3, changedBefore: 0 });
      expect(await inbox.getJob(second.id)).toMatchObject({ state: "done", done: 0, changedBefore: 3 });
    },
  );

  test("what one process leaves is continued by another, and no piece is changed twice", async () => {
    await acceptDead(many);
    const { id } = await inbox.createJob({ action: "retry", choice: {}, by: "ann" });
    await inbox.runJobPage();
    const [one, two] = [await openAnother(place), await openAnother(place)];
    await Promise.all([runAll(one), runAll(two)]);
    expect(await one.getJob(id)).toMatchObject({ state: "done", done: many });
  });

  test("a cancelled job ends, and leaves the rest of its work", async () => {
    await acceptDead(many);
    const { id } = await inbox.createJob({ action: "retry", choice: {}, by: "ann" });
    await inbox.runJobPage();
    expect([
      await inbox.changeJob("cancel", id),
      await inbox.changeJob("cancel", id),
      await inbox.changeJob("cancel", "other"),
    ]).toEqual([true, false, false]);
    expect(await runAll()).toBe(0);
    expect(await inbox.getJob(id)).toMatchObject({ state: "cancelled" });
    expect(await deadCount()).toBeGreaterThan(0);
  });

  test.each([
    ["action", "erase", "action must be one of"],
    ["choice", JSON.stringify({ type: "email.sent", sender: "ann" }), "choice has the field sender"],
  ] as const)("a job whose %s this version does not know fails, and the next one runs", async (column, text, error) => {
    await acceptDead(1);
    await acceptDead(1, "email.failed");
    const { id } = await inbox.createJob({ action: "retry", choice: { type: "email.sent" }, by: "ann" });
    await execute?.(`UPDATE pigeonhole.inbox_job SET ${column} = '${text}'`);
    const next = await inbox.createJob({ action: "retry", choice: { type: "email.failed" }, by: "ann" });
    await runAll();
    expect(await inbox.getJob(next.id)).toMatchObject({ state: "done", done: 1 });
    expect(await inbox.getJob(id)).toMatchObject({
      state: "failed",
      error: expect.stringContaining(error) as string,
    });
    expect(await deadCount()).toBe(1);
  });

  test.each(["operator", "receiver"] as const)(
    "an erasure by the %s takes the texts by which the work of ended jobs was chosen, and nothing else of them",
    async (by) => {
      const choices: JobChoice[] = [
        { handler: "h", error: "ann@exam" },
        { ids: ["a"], error: "Ann" },
        { ids: ["c"], type: "email.sent" },
      ];
      await acceptDead(2);
      for (const choice of choices) await inbox.createJob({ action: "discard", choice, by: "bob" });
      const { id } = await inbox.createJob({ action: "retry", choice: { error: "it failed" }, by: "bob" });
      await inbox.changeJob("cancel", id);
      await runAll();
      const before = await inbox.listJobs();
      expect(await inbox.erase({ email: EMAIL, dryRun: true })).toMatchObject({ jobs: 3, jobsLeft: 0 });
      expect(await inbox.listJobs()).toEqual(before);
      expect(await erasures[by]()).toMatchObject({ events: 0, contactEvents: 0, jobs: 3, jobsLeft: 0 });
      const erased = ({ filter, ...job }: BulkJob): BulkJob => {
        return { ...job, filter: { ...filter, error: filter.error && "[erased]" } };
      };
      expect(await inbox.listJobs()).toEqual(before.map(erased));
      expect(await erasures[by]()).toMatchObject({ jobs: 0, jobsLeft: 0 });
    },
  );

  test("an open job goes on with the work that it chose by a text, and loses the text with an erasure after its end", async () => {
    await acceptDead(many);
    await acceptDead(1, "email.failed");
    const byText = await inbox.createJob({ action: "discard", choice: { type: "email.sent", error: "it" }, by: "bob" });
    await inbox.runJobPage();
    expect(await inbox.erase({ email: EMAIL })).toMatchObject({ jobs: 0, jobsLeft: 1 });
    expect(await inbox.getJob(byText.id)).toMatchObject({ state: "open", filter: byText.filter });
    await runAll();
    expect(await inbox.getJob(byText.id)).toMatchObject({ state: "done", done: many });
    expect(await inbox.erase({ email: EMAIL })).toMatchObject({ jobs: 1, jobsLeft: 0 });
    expect(JSON.stringify(await inbox.listJobs())).not.toContain('"it');
  });

  test("the jobs that are worked on are listed, however many newer ones there are", async () => {
    const create = async (by: string): Promise<BulkJob> => inbox.createJob({ action: "retry", choice: {}, by });
    const first = await create("ann");
    for (let index = 0; index < 25; index += 1) {
      const { id } = await create(`ended ${index}`);
      await inbox.changeJob("cancel", id);
    }
    const withEnded = (await inbox.listJobs()).map(({ by }) => by);
    expect(withEnded).toHaveLength(20);
    expect([withEnded[0], withEnded.at(-2), withEnded.at(-1)]).toEqual(["ended 24", "ended 6", "ann"]);
    for (let index = 0; index < 25; index += 1) await create(`open ${index}`);
    const open = (await inbox.listJobs()).map(({ by }) => by);
    expect(open).toHaveLength(20);
    expect([open[0], open.at(-1)]).toEqual(["open 18", "ann"]);
    await inbox.changeJob("cancel", first.id);
    expect((await inbox.listJobs()).map(({ by }) => by)).toMatchObject({ 0: "open 19", 19: "open 0" });
  });

  test("jobs are listed newest first, and impossible ones are refused", async () => {
    for (const by of ["ann", "bob"]) await inbox.createJob({ action: "retry", choice: {}, by });
    expect((await inbox.listJobs()).map(({ by }) => by)).toEqual(["bob", "ann"]);
    await inbox.changeJob("cancel", (await inbox.listJobs())[1]?.id ?? "");
    expect(await inbox.listJobs({ limit: 1 })).toMatchObject([{ by: "bob" }]);
    expect(await inbox.getJob("other")).toBeUndefined();
    await expectCode(inbox.createJob({ action: "run", choice: { state: "dead" }, by: "ann" }), "invalid_argument");
    await expectCode(inbox.createJob({ action: "retry", choice: { errorGroup: "x" }, by: "ann" }), "invalid_argument");
  });
}
