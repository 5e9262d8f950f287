import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Lease, Settlement } from "#pigeonhole/store/work.js";
import { describe, expect, test } from "vitest";
import { handlerView } from "../../support/event-detail.js";
import { acceptLeased, leasePage, snapshot } from "./lease-page.js";
import { expectCode, DAY, settlements, T, TARGETS } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { countWork, operate } from "../../support/operate.js";

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
      expect((await operate(fixture.store).getEvent("evt_1"))?.handlers).toEqual([handler]);
      expect(await countWork(fixture.store, T)).toMatchObject({ running: 0, ...counts });
    });
  });

  describe("a settlement without a valid lease", () => {
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
