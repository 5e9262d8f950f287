import { expect, test } from "vitest";
import { DAY, newEvent, settlements, T, TRACE, bare, MINUTE } from "./new-event.js";
import { acceptAll, acceptLeased, idsOf, leasePage, statesOf } from "./lease-page.js";
import { type Fixture, ENDS_WITH_STORE } from "./fixture.js";
import type { EventQuery } from "#pigeonhole/store/inbox-view.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { countWork, operate } from "../../support/operate.js";
import type { RunSlots } from "#pigeonhole/store/queries/run-slots.js";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { CRASH_LIMIT } from "#pigeonhole/store/work-state.js";

export function describeLease(fixture: Fixture): void {
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

  test("lease gives what is due, and not what is due later beside it", async () => {
    for (const [id, receivedAt] of [["a", T] as const, ["b", T + 1] as const])
      await fixture.store.accept(newEvent(id, { receivedAt }));
    expect((await leasePage(fixture.store, { now: T - 1 })).work).toEqual([]);
    expect(await leasePage(fixture.store)).toMatchObject({ work: [{ eventId: "a" }], nextDueAt: T + 1 });
  });

  test("lease called twenty times at once gives each piece of work once", async () => {
    await Promise.all(Array.from({ length: 50 }, (_, index) => fixture.store.accept(newEvent(`evt_${index}`))));
    const pages = await Promise.all(Array.from({ length: 20 }, () => leasePage(fixture.store, { limit: 3 })));
    const ids = pages.flatMap((page) => idsOf(page));
    expect(ids).toHaveLength(50);
    expect(new Set(ids).size).toBe(50);
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
}

/** Work of which only the newest of a key counts. */
export function describeNewest(fixture: Fixture): void {
  /** Events are numbered by their time. */
  const ofKey = (createdAt: number, key = "k") => ({ key, createdAt });
  const begin = (lease: Lease, createdAt: number, key = "k") =>
    fixture.store.beginNewest(lease, ofKey(createdAt, key), T + 7);
  const acceptAt = (id: string, createdAt: number, key = "k"): Promise<Lease> =>
    acceptLeased(fixture.store, id, {
      work: [{ handler: "h", leaseUntil: T + MINUTE, newest: ofKey(createdAt, key) }],
    });
  const waitAt = (id: string, createdAt: number) =>
    fixture.store.accept(newEvent(id, { work: [{ handler: "h", newest: ofKey(createdAt) }] }));
  const viewOf = async (id: string) => (await operate(fixture.store).getEvent(id))?.handlers[0];

  const SUPERSEDED = { state: "discarded", reason: "superseded" };

  test("what begins ends as superseded by the newest, and says by which", async () => {
    const lease = await acceptAt("older", 1);
    await waitAt("newest", 3);
    await waitAt("newer", 2);
    expect(await begin(lease, 1)).toBe("superseded");
    const shown = { ...SUPERSEDED, error: "newest is newer", attempts: 0, dueAt: null, failed: null };
    expect(await viewOf("older")).toMatchObject(shown);
    expect(await viewOf("newer")).toMatchObject(shown);
    const listed = async (query: EventQuery) => (await operate(fixture.store).listEvents(query)).items.length;
    expect(await listed({ state: "discarded" })).toBe(2);
    expect(await listed({ state: "discarded", error: "Superseded" })).toBe(2);
    expect(await listed({ state: "discarded", error: "newest is", handler: "other" })).toBe(0);
    expect(await listed({ error: "superseded" })).toBe(0);
    expect(await fixture.store.settle(settlements.done(lease))).toBe("lost");
    expect(await countWork(fixture.store, T)).toMatchObject({ pending: 1, running: 0, done: 0 });
    const { work } = await leasePage(fixture.store);
    expect(work.map(({ eventId }) => eventId)).toEqual(["newest"]);
    expect(await begin(bare(work[0] ?? expect.unreachable()), 3)).toBe("newest");
  });

  test("of much older work, what is left ends when it would begin", async () => {
    await Promise.all(Array.from({ length: 501 }, (_, index) => waitAt(`older ${index}`, 1)));
    expect(await begin(await acceptAt("newest", 2), 2)).toBe("newest");
    expect(await countWork(fixture.store, T)).toMatchObject({ pending: 1, running: 1 });
    const [left] = (await leasePage(fixture.store)).work;
    expect(await begin(bare(left ?? expect.unreachable()), 1)).toBe("superseded");
  });
}

/** Times at which runs of a handler with a rate may begin. */
export function describeRunSlots(fixture: Fixture): void {
  const reserve = (now: number, { handler = "h", gapMs = 100, count = 1 } = {}): Promise<RunSlots> =>
    fixture.store.reserveRuns({ handler, now, gapMs, count });

  /** A store on a server reads the time by two clocks of the machine. */
  const near = (first: number): number => expect.closeTo(first, -1) as number;

  test("reserveRuns gives each time once, a gap after the one before, and none that is over", async () => {
    expect(await reserve(T)).toEqual({ first: near(T), count: 1 });
    expect(await reserve(T)).toEqual({ first: near(T + 100), count: 1 });
    expect(await reserve(T + 10, { count: 3 })).toEqual({ first: near(T + 200), count: 3 });
    expect(await reserve(T + 20)).toEqual({ first: near(T + 500), count: 1 });
    expect(await reserve(T + 700)).toEqual({ first: near(T + 700), count: 1 });
  });

  test("reserveRuns does not round short gaps", async () => {
    for (let index = 0; index < 200; index += 1) await reserve(T, { gapMs: 1.05 });
    expect((await reserve(T)).first).toEqual(near(T + 210));
  });

  test("reserveRuns gives none that is more than a second away, and says when it is", async () => {
    await reserve(T, { gapMs: DAY });
    const held = { first: near(T + DAY), count: 0 };
    expect(await reserve(T, { gapMs: DAY })).toEqual(held);
    expect(await reserve(T + DAY - 1_010, { gapMs: DAY })).toEqual(held);
    expect(await reserve(T + DAY - 990, { gapMs: DAY })).toEqual({ first: near(T + DAY), count: 1 });
  });

  test("reserveRuns gives two that ask at once different times", async () => {
    const given = await Promise.all(Array.from({ length: 10 }, () => reserve(T)));
    expect(given.map(({ first }) => first).toSorted((a, b) => a - b)).toEqual(
      given.map((_, index) => near(T + index * 100)),
    );
  });

  test("reserveRuns counts for each handler by itself", async () => {
    await reserve(T, { handler: "a" });
    expect(await reserve(T, { handler: "b" })).toEqual({ first: near(T), count: 1 });
  });

  test("reserveRuns goes on soon after the clock was set back, behind what may be reserved", async () => {
    await reserve(T + DAY, { count: 2 });
    const { first } = await reserve(T);
    expect(first).toBeGreaterThan(T + 1_200);
    expect(first).toBeLessThan(T + 4_000);
    expect(await reserve(first)).toEqual({ first: near(first + 100), count: 1 });
  });

  test("reserveRuns keeps the times for the next process", async ({ skip }) => {
    skip(!fixture.kind.outlives, ENDS_WITH_STORE);
    await reserve(T);
    await fixture.reopen();
    // The clocks are compared again, on a busy machine by an answer that took some milliseconds.
    expect(await reserve(T)).toEqual({ first: expect.closeTo(T + 100, -2) as number, count: 1 });
  });
}

export function describeRecover(fixture: Fixture): void {
  test("recover at the start takes the work of a dead process, whose leases have not ended", async ({ skip }) => {
    if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
    await acceptLeased(fixture.store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
    const store = await fixture.reopen();
    expect(await store.recover(T)).toEqual({ owner: true, recovered: 1, parked: 0 });
    const { work } = await leasePage(store, { leaseUntil: T + DAY });
    expect(work).toMatchObject([{ eventId: "evt_1", attempt: 2, crashes: 1 }]);
    expect(await store.recover(T)).toEqual({ owner: true, recovered: 0, parked: 0 });
  });

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
}
