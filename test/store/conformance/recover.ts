import { isoTime } from "#pigeonhole/base/iso-time.js";
import { CRASH_LIMIT } from "#pigeonhole/store/work-state.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { describe, expect, test } from "vitest";
import { DAY, MINUTE, T, bare, newEvent, settlements } from "./new-event.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { acceptAll, acceptLeased, crash, idsOf, leasePage, statesOf } from "./lease-page.js";
import { operate } from "../../support/operate.js";

export function describeRecover(fixture: Fixture): void {
  describe("recover", () => {
    test.each([
      [T + MINUTE - 1, "running"],
      [T + MINUTE, "running"],
      [T + MINUTE + 1, "pending"],
    ])("recover at %i leaves work with a lease until 1760000060000 %s", async (now, state) => {
      await acceptLeased(fixture.store, "evt_1");
      const recovered = state === "pending" ? 1 : 0;
      expect(await fixture.store.recover(now)).toEqual({ owner: true, recovered, parked: 0 });
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: state });
    });

    test("recover at the start takes the work of a dead process, whose leases have not ended", async ({ skip }) => {
      if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
      await acceptLeased(fixture.store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
      const store = await fixture.reopen();
      expect(await store.recover(T)).toEqual({ owner: true, recovered: 1, parked: 0 });
      const { work } = await leasePage(store, { leaseUntil: T + DAY });
      expect(work).toMatchObject([{ eventId: "evt_1", attempt: 2, crashes: 1 }]);
      expect(await store.recover(T)).toEqual({ owner: true, recovered: 0, parked: 0 });
    });
  });

  describe("a crash loop", () => {
    test(`a crash loop parks the work after ${CRASH_LIMIT} deaths`, async () => {
      await acceptAll(fixture.store, ["evt_1", "innocent"]);
      await leasePage(fixture.store, { limit: 1 });
      for (const recovered of [1, 1, 1, 0]) {
        const result = await fixture.store.recover(T + DAY);
        expect(result).toEqual({ owner: true, recovered, parked: 1 - recovered });
        await leasePage(fixture.store, { now: T + DAY, limit: 1 });
      }
      expect(await operate(fixture.store).getEvent("evt_1")).toMatchObject({
        state: "parked",
        handlers: [
          {
            state: "parked",
            reason: "crash_loop",
            attempts: CRASH_LIMIT,
            settledAt: isoTime(T + DAY),
            error: expect.any(String),
          },
        ],
      });
      expect(await statesOf(fixture.store, "innocent")).toEqual({ h: "running" });
    });

    test("a crash loop is found despite failures in between", async () => {
      await fixture.store.accept(newEvent("evt_1"));
      for (const [failures, crashes] of [
        [1, 0],
        [2, 1],
        [3, 2],
        [4, 3],
      ] as const) {
        const { work } = await leasePage(fixture.store, { now: T + DAY });
        expect(work).toMatchObject([{ failures: failures - 1, crashes }]);
        await fixture.store.settle(settlements.pending(bare(work[0] ?? expect.unreachable()), T));
        await crash(fixture.store);
      }
      expect((await operate(fixture.store).getEvent("evt_1"))?.handlers).toMatchObject([
        { reason: "crash_loop", attempts: 2 * CRASH_LIMIT },
      ]);
    });

    test("a crash loop is counted for each handler", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [{ handler: "h" }, { handler: "i" }] }));
      for (let death = 0; death < CRASH_LIMIT; death += 1) await crash(fixture.store);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "parked", i: "pending" });
      expect((await leasePage(fixture.store, { handler: "i" })).work).toMatchObject([{ crashes: 0 }]);
    });

    test("a crash loop needs deaths, not only failures", async () => {
      await fixture.store.accept(newEvent("evt_1"));
      for (let failures = 0; failures < 10; failures += 1) {
        const { work } = await leasePage(fixture.store);
        expect(work).toMatchObject([{ failures, crashes: 0 }]);
        await fixture.store.settle(settlements.pending(bare(work[0] ?? expect.unreachable()), T));
      }
    });
  });

  describe("work that a process died in", () => {
    const later = { now: T + DAY };

    test("work that a process died in is leased first and alone", async () => {
      await acceptAll(fixture.store, ["new", "crashed", "newer"]);
      await crashOnly(fixture, "crashed");
      expect(idsOf(await leasePage(fixture.store, later))).toEqual(["crashed"]);
      expect(idsOf(await leasePage(fixture.store, later))).toEqual(["new", "newer"]);
    });

    test.each([
      [1, ["a"]],
      [2, ["a", "b"]],
      [3, ["a", "b", "c"]],
    ])("work that a process died in is leased by at most %i: %j", async (crashedLimit, ids) => {
      await acceptAll(fixture.store, ["a", "b", "c"]);
      await crash(fixture.store);
      await fixture.store.accept(newEvent("new"));
      expect(idsOf(await leasePage(fixture.store, { ...later, crashedLimit }))).toEqual(ids);
    });

    test("work that a process died in is leased alone a second time, before work with one death", async () => {
      await acceptAll(fixture.store, ["new", "once", "twice", "twice too"]);
      await crashOnly(fixture, "twice");
      await crashOnly(fixture, "twice");
      await crashOnly(fixture, "twice too");
      await crashOnly(fixture, "twice too");
      await crashOnly(fixture, "once");
      expect((await leasePage(fixture.store, later)).work).toMatchObject([{ eventId: "twice", crashes: 2 }]);
      expect(idsOf(await leasePage(fixture.store, later))).toEqual(["twice too"]);
      expect((await leasePage(fixture.store, later)).work).toMatchObject([{ eventId: "once", crashes: 1 }]);
      expect(idsOf(await leasePage(fixture.store, later))).toEqual(["new"]);
    });

    test("work with two deaths is leased only if crash-looping work is allowed, and nextDueAt shows that it waits", async () => {
      await acceptAll(fixture.store, ["new", "once", "twice"]);
      await crashOnly(fixture, "twice");
      await crashOnly(fixture, "twice");
      await crashOnly(fixture, "once");
      const careful = { ...later, allowCrashLooping: false };
      expect(idsOf(await leasePage(fixture.store, careful))).toEqual(["once"]);
      expect(idsOf(await leasePage(fixture.store, careful))).toEqual(["new"]);
      expect(await leasePage(fixture.store, careful)).toEqual({ work: [], nextDueAt: T });
      expect(idsOf(await leasePage(fixture.store, later))).toEqual(["twice"]);
    });

    test("work that a process died in stays marked after a failure, and a replan removes the mark", async () => {
      await acceptAll(fixture.store, ["crashed", "new"]);
      await crashOnly(fixture, "crashed");
      const first = (await leasePage(fixture.store, later)).work[0] ?? expect.unreachable();
      await fixture.store.settle(settlements.pending(first, T));
      expect(idsOf(await leasePage(fixture.store, later))).toEqual(["crashed"]);

      await fixture.store.recover(T + 2 * DAY);
      const second = (await leasePage(fixture.store, { now: T + 2 * DAY })).work[0] ?? expect.unreachable();
      expect(second).toMatchObject({ eventId: "crashed", crashes: 2 });
      await fixture.store.settle(settlements.dead(second));
      await fixture.store.replan({ seq: second.seq, handlers: [], now: T + 1 });
      expect((await leasePage(fixture.store, later)).work).toMatchObject([
        { eventId: "new" },
        { eventId: "crashed", attempt: 1, failures: 0, crashes: 0 },
      ]);
    });

    test("work that a process died in waits for its time as other work does", async () => {
      await acceptAll(fixture.store, ["crashed"]);
      await crash(fixture.store);
      await fixture.store.accept(newEvent("new", { receivedAt: T }));
      expect(idsOf(await leasePage(fixture.store, { now: T + DAY - 1 }))).toEqual(["new"]);
    });
  });
}

/** Lets a process die in one event's work; all other work that is given before it is given back. */
async function crashOnly({ store }: Fixture, id: string): Promise<void> {
  const others: Lease[] = [];
  for (;;) {
    const { work } = await leasePage(store, { now: T + DAY });
    const victim = work.find(({ eventId }) => eventId === id);
    others.push(...work.filter((given) => given !== victim).map((given) => bare(given)));
    if (work.length === 0) throw new Error(`${id} is not pending`);
    if (victim === undefined) continue;
    await store.renew(others, T + 2 * DAY);
    await store.recover(T + DAY);
    return store.release(others, T);
  }
}
