import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { FailedRuns } from "#pigeonhole/store/inbox-view.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { acceptLeased, leasePage } from "./lease-page.js";
import { bare, DAY, expectLease, MINUTE, newEvent, NOTHING_TO_PRUNE, settlements, T } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { operate } from "../../support/operate.js";

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
      const work = ["a", "b", "c"].map((handler) => ({ handler, leaseUntil: T + MINUTE }));
      const result = await store.accept(newEvent("evt_1", { work }));
      const [a, b, c] = result.kind === "stored" ? result.leases.map(bare) : [];
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
