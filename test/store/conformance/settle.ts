import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Settlement, WaitHolds, Lease } from "#pigeonhole/store/work.js";
import { describe, expect, test } from "vitest";
import { handlerView } from "../../support/event-detail.js";
import { settlements, T, TARGETS, bare, MINUTE, newEvent, DAY, expectLease, NOTHING_TO_PRUNE } from "./new-event.js";
import { acceptFor, acceptLeased, idsOf, leasePage } from "./lease-page.js";
import type { Fixture } from "./fixture.js";
import { countWork, operate } from "../../support/operate.js";
import type { FailedRuns } from "#pigeonhole/store/inbox-view.js";

type Target = Settlement["to"];

export function describeSettle(fixture: Fixture): void {
  const view = { ...handlerView("h"), attempts: 1 };
  test.each<[Target, object, object]>([
    ["done", { ...view, state: "done", settledAt: isoTime(T + 5) }, { done: 1 }],
    ["pending", { ...view, state: "retrying", dueAt: isoTime(T + 50), error: "it failed" }, { retrying: 1, done: 0 }],
    [
      "dead",
      { ...view, state: "dead", reason: "do_not_retry", error: "it failed", settledAt: isoTime(T + 5) },
      { dead: 1, done: 0 },
    ],
    [
      "parked",
      { ...view, state: "parked", reason: "mismatch", error: "no such field", settledAt: isoTime(T + 5) },
      { parked: 1, done: 0 },
    ],
  ])("settle to %s ends the lease", async (to, handler, counts) => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    expect(await fixture.store.settle(settlements[to](lease))).toBe("settled");
    expect((await operate(fixture.store).getEvent("evt_1"))?.handlers).toEqual([handler]);
    expect(await countWork(fixture.store, T)).toMatchObject({ running: 0, ...counts });
  });

  test.each(TARGETS)("two settlements to %s of one lease at once count once", async (to) => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    const results = await Promise.all([1, 2].map(() => fixture.store.settle(settlements[to](lease))));
    expect(results.toSorted()).toEqual(["lost", "settled"]);
  });
}

const UNTIL = T + 30 * MINUTE;

/** Runs that asked to wait. */
export function describeWaits(fixture: Fixture): void {
  const viewOf = async (id: string) => (await operate(fixture.store).getEvent(id))?.handlers[0];

  /** An event whose run has asked to wait. */
  async function acceptWaiting(id: string, holds: WaitHolds = "handler"): Promise<void> {
    const lease = await acceptLeased(fixture.store, id);
    await fixture.store.settle({ ...settlements.pending(lease, UNTIL), wait: { holds, began: T } });
  }

  describe("work that waits as its handler asked", () => {
    test("it says so, also in lists, and no attempt is spent", async () => {
      const { store } = fixture;
      await acceptWaiting("evt_1", "work");
      const shown = {
        state: "pending",
        dueAt: isoTime(UNTIL),
        error: "it failed",
        waitsFor: "retry_after",
        attempts: 1,
      };
      expect(await viewOf("evt_1")).toMatchObject(shown);
      expect((await operate(store).listEvents({})).items[0]?.handlers).toMatchObject([shown]);
      const { work } = await leasePage(store, { now: UNTIL, leaseUntil: UNTIL + MINUTE });
      expect(work).toMatchObject([{ attempt: 2, failures: 0, crashes: 0, waitBegan: T }]);
      await store.settle(settlements.pending(bare(work[0] ?? expect.unreachable()), UNTIL));
      expect(await viewOf("evt_1")).not.toHaveProperty("waitsFor", "retry_after");
      expect((await leasePage(store, { now: UNTIL })).work).toMatchObject([{ failures: 1, waitBegan: T }]);
    });

    test("a person runs what is listed as retrying, or as pending, and not the other", async () => {
      await acceptWaiting("waits", "work");
      const lease = await acceptLeased(fixture.store, "failed");
      await fixture.store.settle(settlements.pending(lease, UNTIL));
      const inbox = operate(fixture.store, T + MINUTE);
      expect(await inbox.changeWork("run", { state: "retrying" })).toMatchObject({ work: 1 });
      expect(idsOf(await leasePage(fixture.store, { now: T + MINUTE }))).toEqual(["failed"]);
      expect(await inbox.changeWork("run", { state: "pending" })).toMatchObject({ work: 1 });
      expect(idsOf(await leasePage(fixture.store, { now: T + MINUTE }))).toEqual(["waits"]);
    });
  });

  describe("a wait that holds its handler", () => {
    test("keeps all work of that handler in the store until it ends", async () => {
      const { store } = fixture;
      await acceptWaiting("evt_1");
      await store.accept(newEvent("evt_2", { work: [{ handler: "h" }, { handler: "i" }] }));
      expect(await leasePage(store, { now: UNTIL - 1 })).toEqual({ work: [], nextDueAt: UNTIL, heldUntil: UNTIL });
      expect(idsOf(await leasePage(store, { handler: "i" }))).toEqual(["evt_2"]);
      expect((await operate(store).listEvents({})).items[0]?.handlers).toMatchObject([
        { handler: "h", state: "pending", attempts: 0, waitsFor: "retry_after", dueAt: isoTime(UNTIL) },
        { handler: "i", state: "running", waitsFor: null, dueAt: null },
      ]);
      const page = await leasePage(store, { now: UNTIL });
      expect(idsOf(page)).toEqual(["evt_2", "evt_1"]);
      expect(page).not.toHaveProperty("heldUntil");
    });
  });
}

export function describeSteps(fixture: Fixture): void {
  test.each([["a"], [""], ["__proto__"], ["constructor"], ["with 'quotes' and \u{1f54a}"]])(
    "the store keeps a step's name %j and its text unchanged",
    async (name) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      expect(await fixture.store.saveStep(lease, name, '{"value":null}', T)).toBe("settled");
      expect(Object.entries(await fixture.store.loadSteps(lease))).toEqual([[name, '{"value":null}']]);
    },
  );

  test("an operator sees when each step was kept, oldest first, also once the work is done", async () => {
    const { store } = fixture;
    const lease = await acceptLeased(store, "evt_1");
    const stepsShown = async () => (await operate(store).getEvent("evt_1"))?.handlers.map(({ steps }) => steps);
    expect(await stepsShown()).toEqual([[]]);
    await store.saveStep(lease, "b", "1", T + 1);
    await store.saveStep(lease, "a", "2", T + 2);
    await store.saveStep(lease, "b", "3", T + 3);
    const steps = [
      { name: "b", at: isoTime(T + 1) },
      { name: "a", at: isoTime(T + 2) },
    ];
    expect(await stepsShown()).toEqual([steps]);
    await store.settle(settlements.pending(lease, T));
    expect(await stepsShown()).toEqual([steps]);
    const [work] = (await leasePage(store)).work;
    await store.settle({ ...settlements.done(bare(work ?? expect.unreachable())), dropSteps: true });
    expect(await stepsShown()).toEqual([steps]);
    expect(await store.loadSteps(lease)).toEqual({});
  });

  test("an operator sees the steps of each handler with it", async () => {
    const leases = await acceptFor(fixture.store, "evt_1", ["h", "i", "j"]);
    for (const lease of leases.slice(0, 2)) {
      await fixture.store.saveStep(bare(lease), `step of ${lease.handler}`, "1", T);
    }
    const handlers = (await operate(fixture.store).getEvent("evt_1"))?.handlers ?? [];
    expect(handlers.map(({ handler, steps }) => [handler, steps])).toEqual([
      ["h", [{ name: "step of h", at: isoTime(T) }]],
      ["i", [{ name: "step of i", at: isoTime(T) }]],
      ["j", []],
    ]);
  });
}

/** What a run throws, and where. */
const timeOf = (attempt: number): number => T + attempt * 1000;
const stackOf = (attempt: number): string => `Error: it failed\n    at run (${attempt}.js:1:1)`;

export function describeFailedRuns(fixture: Fixture): void {
  const failedOf = async (id: string): Promise<FailedRuns | null | undefined> =>
    (await operate(fixture.store).getEvent(id))?.handlers[0]?.failed;

  async function leaseAgain(): Promise<Lease> {
    return expectLease((await leasePage(fixture.store, { now: T + DAY })).work[0]);
  }

  /** Fails so many times; the work is leased once more afterwards. */
  async function failTimes(lease: Lease, times: number): Promise<Lease> {
    for (let attempt = 1; attempt <= times; attempt += 1) {
      await fixture.store.settle({
        ...settlements.pending(bare(lease), T),
        stack: stackOf(attempt),
        at: timeOf(attempt),
      });
      lease = await leaseAgain();
    }
    return lease;
  }

  describe("settle keeps errors in full", () => {
    test.each([
      [1, 1],
      [2, 2],
      [3, 3],
      [5, 5],
    ])("of %i failed runs the first and the last, with their numbers and times", async (times, last) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      expect(await failedOf("evt_1")).toBeNull();
      await failTimes(lease, times);
      expect(await failedOf("evt_1")).toEqual({
        first: { attempt: 1, stack: stackOf(1), at: isoTime(timeOf(1)) },
        last: { attempt: last, stack: stackOf(last), at: isoTime(timeOf(last)) },
      });
    });

    test.each(["dead", "parked"] as const)("of work that is %s", async (to) => {
      const lease = await failTimes(await acceptLeased(fixture.store, "evt_1"), 1);
      await fixture.store.settle({ ...settlements[to](lease), stack: stackOf(2), at: timeOf(2) });
      expect(await failedOf("evt_1")).toMatchObject({
        first: { attempt: 1, at: isoTime(timeOf(1)) },
        last: { attempt: 2, stack: stackOf(2), at: isoTime(timeOf(2)) },
      });
    });

    test("of work that is done since, but not where it is listed", async () => {
      const lease = await failTimes(await acceptLeased(fixture.store, "evt_1"), 2);
      await fixture.store.settle(settlements.done(lease));
      expect(await failedOf("evt_1")).toMatchObject({ first: { attempt: 1 }, last: { attempt: 2 } });
      const { items } = await operate(fixture.store).listEvents({});
      expect(items[0]?.handlers).toHaveLength(1);
      expect(JSON.stringify(items)).not.toContain("1.js");
      expect((await operate(fixture.store).listEvents({ error: "1.js" })).items).toEqual([]);
    });

    test("of the runs since a retry", async () => {
      const lease = await failTimes(await acceptLeased(fixture.store, "evt_1"), 2);
      await fixture.store.settle({ ...settlements.dead(lease), stack: stackOf(3) });
      await fixture.store.replan({ seq: lease.seq, handlers: [], now: T });
      expect(await failedOf("evt_1")).toBeNull();
      await fixture.store.settle({ ...settlements.pending(await leaseAgain(), T), stack: stackOf(7), at: timeOf(7) });
      const only = { attempt: 1, stack: stackOf(7), at: isoTime(timeOf(7)) };
      expect(await failedOf("evt_1")).toEqual({ first: only, last: only });
    });

    test("each of its own handler, and nothing of a run that lost its lease or has no stack", async () => {
      const { store } = fixture;
      const [a, b, c] = await acceptFor(store, "evt_1", ["a", "b", "c"]);
      await store.settle({ ...settlements.dead(expectLease(a)), stack: stackOf(1) });
      expect(await store.settle({ ...settlements.dead(expectLease(a)), stack: stackOf(9) })).toBe("lost");
      await store.settle({ ...settlements.dead(expectLease(b)), stack: stackOf(2) });
      await store.settle(settlements.dead(expectLease(c)));
      const handlers = (await operate(store).getEvent("evt_1"))?.handlers ?? [];
      expect(handlers.map(({ failed }) => failed?.last.stack)).toEqual([stackOf(1), stackOf(2), undefined]);
    });

    test("until the body goes", async () => {
      const { store } = fixture;
      for (const id of ["evt_1", "evt_2"]) {
        await store.settle(settlements.done(await failTimes(await acceptLeased(store, id), 2)));
      }
      await operate(store).erase({ email: "ann@example.com" });
      expect(await failedOf("evt_1")).not.toBeNull();
      while ((await store.prune({ ...NOTHING_TO_PRUNE, bodiesBefore: T + DAY })) > 0);
      expect(await failedOf("evt_1")).toBeNull();
    });

    test("unless they are erased: an address that only they mention is found", async () => {
      const { store } = fixture;
      const lease = await acceptLeased(store, "evt_1");
      await store.settle({ ...settlements.dead(lease), stack: "Error: no\nCaused by: Error: ann@example.com" });
      expect(await operate(store).erase({ email: "ann@example.com" })).toMatchObject({ events: 1 });
      expect(await failedOf("evt_1")).toBeNull();
    });
  });
}
