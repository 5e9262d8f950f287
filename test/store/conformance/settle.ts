import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Lease, Settlement } from "#pigeonhole/store/work.js";
import { describe, expect, test } from "vitest";
import { handlerView } from "../../support/event-detail.js";
import { acceptLeased, crash, idsOf, leasePage, snapshot, statesOf } from "./lease-page.js";
import { expectCode, bare, DAY, newEvent, settlements, T, TARGETS } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { countWork } from "../../support/operate.js";

type Target = Settlement["to"];

/** How a lease can have ended, each on an event of its own. */
const ENDINGS: Record<string, (fixture: Fixture) => Promise<Lease>> = {
  "was settled": async ({ store }) => {
    const lease = await acceptLeased(store, "evt_1");
    await store.settle(settlements.done(lease));
    return lease;
  },
  "was settled for a retry": async ({ store }) => {
    const lease = await acceptLeased(store, "evt_1");
    await store.settle(settlements.pending(lease));
    return lease;
  },
  "was released": async ({ store }) => {
    const lease = await acceptLeased(store, "evt_1");
    await store.release([lease], T);
    return lease;
  },
  "ran out and was recovered": async ({ store }) => {
    const lease = await acceptLeased(store, "evt_1");
    await store.recover(T + DAY);
    return lease;
  },
  "ran out, with the work leased again,": async ({ store }) => {
    const lease = await acceptLeased(store, "evt_1");
    await store.recover(T + DAY);
    await leasePage(store, { now: T + DAY });
    return lease;
  },
  "was never given": async ({ store }) => {
    const lease = await acceptLeased(store, "evt_1");
    return { ...lease, token: lease.token + 1 };
  },
  "is of another handler": async ({ store }) => ({ ...(await acceptLeased(store, "evt_1")), handler: "i" }),
  "is of another event": async ({ store }) => {
    const lease = await acceptLeased(store, "evt_1");
    return { ...lease, seq: lease.seq + 1 };
  },
};

export function describeSettle(fixture: Fixture): void {
  describe("settle", () => {
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
      expect((await fixture.store.getEvent("evt_1"))?.handlers).toEqual([handler]);
      expect(await countWork(fixture.store, T)).toMatchObject({ running: 0, ...counts });
    });

    test.each<[Target, boolean]>([
      ["done", false],
      ["pending", true],
      ["dead", false],
      ["parked", false],
    ])("settle to %s makes the work available again: %s", async (to, again) => {
      await fixture.store.settle(settlements[to](await acceptLeased(fixture.store, "evt_1")));
      expect(idsOf(await leasePage(fixture.store, { now: T + 49 }))).toEqual([]);
      expect(idsOf(await leasePage(fixture.store, { now: T + 50 }))).toEqual(again ? ["evt_1"] : []);
      await fixture.store.recover(T + DAY);
      expect(idsOf(await leasePage(fixture.store, { now: T + 50 }))).toEqual([]);
    });

    test("settle does not change the event's other handlers", async () => {
      const work = ["h", "i", "j"].map((handler) => ({ handler, leaseUntil: T + DAY }));
      const result = await fixture.store.accept(newEvent("evt_1", { work }));
      const [h, i] = result.kind === "stored" ? result.leases : [];
      await fixture.store.settle(settlements.done(h ?? expect.unreachable()));
      await fixture.store.settle(settlements.dead(i ?? expect.unreachable()));
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "done", i: "dead", j: "running" });
      expect((await fixture.store.getEvent("evt_1"))?.state).toBe("dead");
    });

    test("settle works after the lease ended, while no other process has the work", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1", { work: [{ handler: "h", leaseUntil: T - DAY }] });
      expect(await fixture.store.settle(settlements.done(lease))).toBe("settled");
    });

    test("settle counts runs that ended and runs that did not", async () => {
      await acceptLeased(fixture.store, "evt_1");
      await fixture.store.recover(T + DAY);
      await crash(fixture.store);
      const { work } = await leasePage(fixture.store, { now: T + DAY });
      await fixture.store.settle(settlements.done(bare(work[0] ?? expect.unreachable())));
      expect((await fixture.store.getEvent("evt_1"))?.handlers).toMatchObject([{ state: "done", attempts: 3 }]);
    });
  });

  describe("a settlement without a valid lease", () => {
    const cases = Object.keys(ENDINGS).flatMap((ending) => TARGETS.map((to) => [ending, to] as const));
    test.each(cases)("a settlement with a lease that %s writes nothing, to %s", async (ending, to) => {
      const lease = await ENDINGS[ending]?.(fixture);
      await fixture.store.accept(newEvent("bystander"));
      const before = await snapshot(fixture.store);
      const settlement = settlements[to](lease ?? expect.unreachable());
      expect(await fixture.store.settle({ ...settlement, dropSteps: true })).toBe("lost");
      expect(await snapshot(fixture.store)).toEqual(before);
    });

    test.each(Object.keys(ENDINGS))("a commit with a lease that %s does not call its function", async (ending) => {
      const lease = await ENDINGS[ending]?.(fixture);
      const before = await snapshot(fixture.store);
      let called = false;
      await expectCode(
        fixture.store.commit(settlements.done(lease ?? expect.unreachable()), () => void (called = true)),
        "lease_lost",
      );
      expect(called).toBe(false);
      expect(await snapshot(fixture.store)).toEqual(before);
    });

    test.each(TARGETS)("two settlements to %s of one lease at once count once", async (to) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      const results = await Promise.all([1, 2].map(() => fixture.store.settle(settlements[to](lease))));
      expect(results.toSorted()).toEqual(["lost", "settled"]);
    });
  });
}
