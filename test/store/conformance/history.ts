import { expect, test } from "vitest";
import type { HistoryRequest } from "#pigeonhole/store/history.js";
import type { LeasePage, LeaseRequest } from "#pigeonhole/store/store.js";
import { operate } from "../../support/operate.js";
import { type Fixture } from "./fixture.js";
import { DAY, NOTHING_TO_PRUNE, T, expectCode, newEvent, settlements } from "./new-event.js";
import { acceptAll, idsOf, leasePage, statesOf } from "./lease-page.js";

const MANY = Array.from({ length: 25 }, (_, index) => `evt_${index}`);

export function describeHistory(fixture: Fixture): void {
  const inbox = () => operate(fixture.store, T);
  const plan = (change: Partial<HistoryRequest> = {}) =>
    inbox().planHistory({ handler: "new", handlerTypes: ["*"], by: "ann", ...change });
  const lease = (history = 10, change: Partial<LeaseRequest> = {}): Promise<LeasePage> =>
    leasePage(fixture.store, { handler: "new", history, ...change });
  const theJob = async () => (await inbox().listJobs())[0] ?? expect.unreachable();

  /** Runs all that the handler gets; returns the ids in their order. */
  async function runAll(): Promise<string[]> {
    const ran: string[] = [];
    for (let isLeft = true; isLeft;) {
      const page = await lease();
      for (const work of page.work) {
        ran.push(work.eventId);
        await fixture.store.settle(settlements.done(work));
      }
      isLeft = page.work.length > 0 || page.hasHistory === true;
    }
    return ran;
  }

  test("a handler gets each stored event once, in the order of receipt and a page at a time", async () => {
    await acceptAll(fixture.store, MANY);
    const { job } = await plan();
    expect(await theJob()).toMatchObject({ id: job, state: "open", total: 25, done: 0 });
    const first = await lease();
    expect([idsOf(first), first.hasHistory]).toEqual([MANY.slice(0, 10), true]);
    expect(await theJob()).toMatchObject({ action: "plan", by: "ann", filter: { handler: "new" }, done: 10 });
    for (const work of first.work) await fixture.store.settle(settlements.done(work));
    expect(await runAll()).toEqual(MANY.slice(10));
    expect(await theJob()).toMatchObject({ state: "done", total: 25, done: 25, changedBefore: 0 });
    expect(await plan()).toEqual({ events: 0, withoutBody: 0, job: null });
    expect(await lease()).toEqual({ work: [], nextDueAt: undefined });
    expect(await inbox().runJobPage()).toBeUndefined();
  });

  test("a history is made from its newest event down where a page asks for that, and goes on from both ends", async () => {
    await acceptAll(fixture.store, MANY);
    await plan();
    const ends = [await lease(10, { newestFirst: true }), await lease(4), await lease(8, { newestFirst: true })];
    expect(ends.map(idsOf)).toEqual([MANY.slice(15), MANY.slice(0, 4), MANY.slice(7, 15)]);
    expect(await theJob()).toMatchObject({ state: "open", done: 22 });
    expect(await runAll()).toEqual(MANY.slice(4, 7));
    expect(await theJob()).toMatchObject({ state: "done", done: 25 });
  });

  test("a history leaves out what was not understood, test events, other types and times, and what has a row", async () => {
    const { store } = fixture;
    const parked = { reason: "unknown_type", detail: "" };
    await store.accept(newEvent("parked", { work: [], parked }));
    await store.accept(newEvent("test", { test: true }));
    await store.accept(newEvent("form", { type: "form.submitted" }));
    await store.accept(newEvent("opened", { type: "email.opened" }));
    await store.accept(newEvent("has", { work: [{ handler: "new" }] }));
    await store.accept(newEvent("before", { receivedAt: T - DAY, signedAt: T - DAY }));
    await store.accept(newEvent("after", { receivedAt: T + DAY }));
    await acceptAll(store, ["a", "b"]);
    expect(await plan({ dryRun: true })).toEqual({ events: 6, withoutBody: 0, job: null });
    const types = ["email.received", "form.*"];
    expect(await plan({ types, since: T, until: T + 1 })).toMatchObject({ events: 3 });
    expect(await theJob()).toMatchObject({ filter: { types } });
    expect(await runAll()).toEqual(["has", "form", "a", "b"]);
    expect(await statesOf(store, "parked")).toEqual({ "": "parked" });
  });

  test("events without a body are counted, also those that lose it while the job is open", async () => {
    const { store } = fixture;
    for (const [id, receivedAt] of [["old", T] as const, ["kept", T + DAY] as const, ["erased", T + DAY] as const]) {
      const body = Buffer.from(`{"id":"${id}","to":"${id}@example.com"}`);
      await store.accept(newEvent(id, { work: [], receivedAt, body }));
    }
    for (let seen = 1; seen > 0;) seen = await store.prune({ ...NOTHING_TO_PRUNE, bodiesBefore: T + 1 });
    expect(await plan()).toMatchObject({ events: 2, withoutBody: 1 });
    await inbox().erase({ email: "erased@example.com" });
    expect(await runAll()).toEqual(["kept"]);
    expect(await theJob()).toMatchObject({ state: "done", total: 2, done: 1, changedBefore: 1 });
    expect(await plan()).toEqual({ events: 0, withoutBody: 2, job: null });
  });

  test("two jobs at once, and a retry meanwhile, give a handler no event twice", async () => {
    const { store } = fixture;
    await acceptAll(store, MANY);
    const [first, second] = [await plan(), await plan()];
    const seq = (await operate(store).getEvent("evt_20"))?.seq ?? expect.unreachable();
    await store.replan({ seq, handlers: ["new"], now: T });
    const ran = await runAll();
    expect([ran.length, new Set(ran).size]).toEqual([25, 25]);
    expect(await inbox().getJob(first.job ?? "")).toMatchObject({ done: 24, changedBefore: 1 });
    expect(await inbox().getJob(second.job ?? "")).toMatchObject({ done: 0, changedBefore: 25 });
  });

  test("a paused job makes no work until it is resumed, and a cancelled one ends", async () => {
    await acceptAll(fixture.store, MANY);
    const id = (await plan()).job ?? expect.unreachable();
    await lease(3);
    expect(await inbox().changeJob("pause", id)).toBe(true);
    expect(await lease()).toEqual({ work: [], nextDueAt: undefined });
    expect(await inbox().getJob(id)).toMatchObject({ state: "open", paused: true, done: 3 });
    expect(await inbox().changeJob("resume", id)).toBe(true);
    expect(idsOf(await lease(2))).toEqual(["evt_3", "evt_4"]);
    expect(await inbox().changeJob("cancel", id)).toBe(true);
    expect([await inbox().changeJob("pause", id), await inbox().changeJob("resume", "other")]).toEqual([false, false]);
    expect(await lease()).toEqual({ work: [], nextDueAt: undefined });
  });

  test.each([false, true])(
    "stretches of other events are passed one at a time, newest first: %o",
    async (newestFirst) => {
      const { store } = fixture;
      const gap = Array.from({ length: 1_100 }, (_, index) => `gap_${index}`);
      await store.accept(newEvent("first", { type: "email.sent" }));
      await Promise.all(gap.map((id) => store.accept(newEvent(id))));
      await store.accept(newEvent("last", { type: "email.sent" }));
      await plan({ types: ["email.sent"] });
      const ids = [...idsOf(await lease(10, { newestFirst })), ...idsOf(await lease(10, { newestFirst }))];
      expect(ids).toEqual(newestFirst ? ["last", "first"] : ["first", "last"]);
      expect(await theJob()).toMatchObject({ state: "done", done: 2 });
    },
  );

  test("the types of a handler are those that its receiver has kept, and others are refused", async () => {
    const { store } = fixture;
    await acceptAll(store, ["a"], { type: "email.sent" });
    await acceptAll(store, ["b"]);
    await store.keepPolicies([
      { handler: "score", maxAttempts: 1, types: ["email.*"] },
      { handler: "unhandled", maxAttempts: 1, types: [] },
    ]);
    const kept = (change: Partial<HistoryRequest>) =>
      plan({ handler: "score", handlerTypes: undefined, dryRun: true, ...change });
    expect([await kept({}), await kept({ types: ["email.sent"] })]).toMatchObject([{ events: 2 }, { events: 1 }]);
    for (const types of [["form.submitted"], ["*"], [], ["em ail"]])
      await expectCode(kept({ types }), "invalid_argument");
    await expectCode(kept({ handler: "unhandled" }), "invalid_argument");
    await expect(kept({ handler: "scor" })).rejects.toThrow(
      'No receiver of this inbox has had a handler "scor". Known: score, unhandled.',
    );
  });
}
