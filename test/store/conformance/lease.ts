import { describe, expect, test } from "vitest";
import { acceptAll, acceptLeased, idsOf, leasePage, statesOf } from "./lease-page.js";
import { DAY, newEvent, settlements, T, TRACE } from "./new-event.js";
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

    test.each([
      [T - 1, []],
      [T, ["evt_1"]],
      [T + 1, ["evt_1"]],
    ])("a lease at %i of work that is due at 1760000000000 gives %j", async (now, ids) => {
      await fixture.store.accept(newEvent("evt_1", { receivedAt: T }));
      expect(idsOf(await leasePage(fixture.store, { now }))).toEqual(ids);
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
  });

  describe("renew", () => {
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
}
