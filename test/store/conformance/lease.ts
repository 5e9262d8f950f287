import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { describe, expect, test } from "vitest";
import { acceptAll, acceptLeased, crash, idsOf, leasePage, snapshot, statesOf } from "./lease-page.js";
import { bare, DAY, MINUTE, newEvent, settlements, T, TRACE } from "./new-event.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";

export function describeLease(fixture: Fixture): void {
  describe("lease", () => {
    test("lease gives everything that a run needs", async () => {
      const result = await fixture.store.accept(newEvent("evt_1", { receivedAt: T - 3 }));
      const { work, nextDueAt } = await leasePage(fixture.store);
      const { body, ...rest } = work[0] ?? expect.unreachable();
      expect(rest).toEqual({
        seq: result.kind === "stored" ? result.seq : undefined,
        handler: "h",
        token: expect.any(Number),
        eventId: "evt_1",
        receivedAt: T - 3,
        signedAt: T - 1_000,
        dueAt: T - 3,
        attempt: 1,
        failures: 0,
        crashes: 0,
      });
      expect(Buffer.from(body).toString()).toBe('{"id":"evt_1"}');
      expect(nextDueAt).toBeUndefined();
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "running" });
    });

    test("lease gives the span of the delivery in each run, and none where none was kept", async () => {
      await fixture.store.accept(newEvent("traced", { trace: TRACE, work: [{ handler: "h" }, { handler: "other" }] }));
      await fixture.store.accept(newEvent("traced", { trace: "00-of-a-second-delivery" }));
      const direct = await acceptLeased(fixture.store, "direct", { trace: TRACE });
      await fixture.store.accept(newEvent("plain"));
      await fixture.store.settle(settlements.pending(direct, T));
      const tracesOf = async (handler: string) =>
        (await leasePage(fixture.store, { handler })).work.map(({ eventId, trace }) => [eventId, trace]);
      expect(await tracesOf("h")).toEqual([
        ["traced", TRACE],
        ["direct", TRACE],
        ["plain", undefined],
      ]);
      expect(await tracesOf("other")).toEqual([["traced", TRACE]]);
    });

    test("the next process gets the span of the delivery", async ({ skip }) => {
      skip(!fixture.kind.outlives, ENDS_WITH_STORE);
      await acceptLeased(fixture.store, "running", { trace: TRACE });
      await fixture.store.accept(newEvent("waits", { trace: TRACE }));
      const next = await fixture.reopen();
      await next.recover(T + DAY);
      const found: unknown[] = [];
      // Work that a process died in comes alone.
      for (const _ of [1, 2]) {
        found.push(...(await leasePage(next, { now: T + DAY })).work.map(({ eventId, trace }) => [eventId, trace]));
      }
      expect(found).toEqual([
        ["running", TRACE],
        ["waits", TRACE],
      ]);
    });

    test("lease gives what has been due longest first, and equals in the order of arrival", async () => {
      for (const [id, dueAt] of [
        ["c", 3],
        ["a", 1],
        ["d", 4],
        ["a2", 1],
        ["b", 2],
        ["a3", 1],
      ] as const) {
        await fixture.store.accept(newEvent(id, { receivedAt: T + dueAt }));
      }
      expect(idsOf(await leasePage(fixture.store, { now: T + 10 }))).toEqual(["a", "a2", "a3", "b", "c", "d"]);
    });

    test("lease gives a retry after what was due before it", async () => {
      const lease = await acceptLeased(fixture.store, "again");
      await fixture.store.settle(settlements.pending(lease, T + 5));
      await fixture.store.accept(newEvent("before", { receivedAt: T + 4 }));
      await fixture.store.accept(newEvent("after", { receivedAt: T + 6 }));
      expect(idsOf(await leasePage(fixture.store, { now: T + 10 }))).toEqual(["before", "again", "after"]);
    });

    test.each([
      [T - 1, []],
      [T, ["evt_1"]],
      [T + 1, ["evt_1"]],
    ])("a lease at %i of work that is due at 1760000000000 gives %j", async (now, ids) => {
      await fixture.store.accept(newEvent("evt_1", { receivedAt: T }));
      expect(idsOf(await leasePage(fixture.store, { now }))).toEqual(ids);
    });

    test("lease gives a handler its own work only", async () => {
      await fixture.store.accept(newEvent("both", { work: [{ handler: "h" }, { handler: "i" }] }));
      await fixture.store.accept(newEvent("other", { work: [{ handler: "i" }] }));
      expect(idsOf(await leasePage(fixture.store))).toEqual(["both"]);
      expect(await statesOf(fixture.store, "both")).toEqual({ h: "running", i: "pending" });
      expect(await leasePage(fixture.store, { handler: "nobody" })).toEqual({ work: [], nextDueAt: undefined });
    });

    test.each([1, 2, 3])(
      "lease gives %i pieces of work if asked for that many, and the rest in later pages",
      async (limit) => {
        await acceptAll(fixture.store, ["a", "b", "c", "d"]);
        const ids: string[] = [];
        for (;;) {
          const page = idsOf(await leasePage(fixture.store, { limit }));
          expect(page.length).toBeLessThanOrEqual(limit);
          if (page.length === 0) break;
          ids.push(...page);
        }
        expect(ids).toEqual(["a", "b", "c", "d"]);
      },
    );

    test.each([
      [0, 1],
      [1, 1],
      [10, 1],
      [11, 2],
      [20, 2],
      [21, 3],
      [1_000, 4],
    ])("lease with maxBytes %i stops after %i bodies of 10 bytes", async (maxBytes, pieces) => {
      await acceptAll(fixture.store, ["a", "b", "c", "d"], { body: Buffer.alloc(10) });
      expect((await leasePage(fixture.store, { maxBytes })).work).toHaveLength(pieces);
    });

    test("lease called twenty times at once gives each piece of work once", async () => {
      await Promise.all(Array.from({ length: 50 }, (_, index) => fixture.store.accept(newEvent(`evt_${index}`))));
      const pages = await Promise.all(Array.from({ length: 20 }, () => leasePage(fixture.store, { limit: 3 })));
      const ids = pages.flatMap((page) => idsOf(page));
      expect(ids).toHaveLength(50);
      expect(new Set(ids).size).toBe(50);
    });

    test("lease gives a new token each time", async () => {
      const tokens = new Set<number>();
      let lease: Lease = await acceptLeased(fixture.store, "evt_1");
      for (let run = 0; run < 5; run += 1) {
        tokens.add(lease.token);
        await fixture.store.settle(settlements.pending(lease, T));
        lease = (await leasePage(fixture.store)).work[0] ?? expect.unreachable();
      }
      expect(tokens.size).toBe(5);
    });

    test("lease counts runs and failures", async () => {
      let lease: Lease = await acceptLeased(fixture.store, "evt_1");
      for (const failures of [1, 2, 3]) {
        await fixture.store.settle(settlements.pending(lease, T));
        const { work } = await leasePage(fixture.store);
        expect(work).toMatchObject([{ attempt: failures + 1, failures, crashes: 0 }]);
        lease = work[0] ?? expect.unreachable();
      }
    });
  });

  describe("nextDueAt", () => {
    test("nextDueAt is when the next work is due that is not in the page", async () => {
      await fixture.store.accept(newEvent("now", { receivedAt: T }));
      await fixture.store.accept(newEvent("late", { receivedAt: T + 90 }));
      await fixture.store.accept(newEvent("later", { receivedAt: T + 70 }));
      await fixture.store.accept(newEvent("foreign", { receivedAt: T + 1, work: [{ handler: "i" }] }));
      expect(await leasePage(fixture.store)).toMatchObject({ work: [{ eventId: "now" }], nextDueAt: T + 70 });
      expect(await leasePage(fixture.store)).toEqual({ work: [], nextDueAt: T + 70 });
    });

    test("nextDueAt lies in the past when the page was full", async () => {
      await acceptAll(fixture.store, ["a", "b"], { receivedAt: T - 5 });
      expect(await leasePage(fixture.store, { limit: 1 })).toMatchObject({ nextDueAt: T - 5 });
      expect(await leasePage(fixture.store, { limit: 1 })).toMatchObject({ nextDueAt: undefined });
    });

    test("nextDueAt is the time of a retry", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.settle(settlements.pending(lease, T + 50));
      expect(await leasePage(fixture.store)).toEqual({ work: [], nextDueAt: T + 50 });
    });
  });

  describe("renew", () => {
    test("renew moves the end of a lease, so that recover leaves the work alone", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      expect(await fixture.store.renew([lease], T + DAY)).toEqual([]);
      await fixture.store.recover(T + DAY);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "running" });
      await fixture.store.recover(T + DAY + 1);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "pending" });
    });

    test("renew returns the leases that have ended, and renews the others", async () => {
      const { store } = fixture;
      const held = await acceptLeased(store, "held");
      const settled = await acceptLeased(store, "settled");
      await store.settle(settlements.done(settled));
      const released = await acceptLeased(store, "released");
      await store.release([released], T);
      const forged = { ...held, token: held.token + 1 };
      const taken = await acceptLeased(store, "taken", { work: [{ handler: "h", leaseUntil: T - 1 }] });
      await store.recover(T);

      const lost = await store.renew([settled, held, released, forged, taken], T + DAY);
      expect(lost).toEqual([settled, released, forged, taken]);
      await store.recover(T + DAY);
      expect(await statesOf(store, "held")).toEqual({ h: "running" });
    });

    test("renew without leases does nothing", async () => {
      expect(await fixture.store.renew([], T + DAY)).toEqual([]);
    });
  });

  describe("release", () => {
    test("release returns work as if it had never been leased", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.release([lease], T + 7);
      expect((await fixture.store.getEvent("evt_1"))?.handlers).toMatchObject([
        { state: "pending", attempts: 0, dueAt: isoTime(T) },
      ]);
      const { work } = await leasePage(fixture.store, { now: T });
      expect(work).toMatchObject([{ attempt: 1, failures: 0, crashes: 0 }]);
    });

    test("release keeps earlier counts", async () => {
      await fixture.store.settle(settlements.pending(await acceptLeased(fixture.store, "evt_1"), T));
      await crash(fixture.store);
      const { work } = await leasePage(fixture.store, { now: T + DAY });
      await fixture.store.release(work, T + DAY);
      const again = await leasePage(fixture.store, { now: T + DAY });
      expect(again.work).toMatchObject([{ attempt: 3, failures: 1, crashes: 1 }]);
    });

    test("release does not change a lease that another process has now", async () => {
      const old = await acceptLeased(fixture.store, "evt_1", { work: [{ handler: "h", leaseUntil: T - 1 }] });
      await fixture.store.recover(T);
      const { work } = await leasePage(fixture.store, { leaseUntil: T + MINUTE });
      const before = await snapshot(fixture.store);
      await fixture.store.release([old], T);
      expect(await snapshot(fixture.store)).toEqual(before);
      expect(await fixture.store.renew(work.map(bare), T + DAY)).toEqual([]);
    });
  });
}
