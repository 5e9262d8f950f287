import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Fixture } from "./fixture.js";
import { newEvent, settlements, T, DAY, MINUTE } from "./new-event.js";
import { idsOf, acceptLeased, statesOf, snapshot, crash, leasePage } from "./lease-page.js";
import { operate } from "../../support/operate.js";
import type { WorkChoice } from "#pigeonhole/store/inbox-view.js";
import type { NewEvent } from "#pigeonhole/store/store.js";

const NOTE = { reason: "unknown_type", detail: "no such type" };
const LATER = T + 5;
const ALL = { state: "requested", limit: 10, afterSeq: 0 } as const;

export function describeRequestedRetries(fixture: Fixture): void {
  async function acceptParked(id: string): Promise<number> {
    const result = await fixture.store.accept(newEvent(id, { work: [], parked: NOTE }));
    return result.kind === "stored" ? result.seq : expect.unreachable();
  }

  const noteOf = async (id: string): Promise<unknown> => (await operate(fixture.store).getEvent(id))?.handlers[0];

  /** Undefined where a store is not looked at for it. */
  const isRequested = async () => (await fixture.store.glance?.({ handlers: [], now: T }))?.requested;

  const request = (id: string) => operate(fixture.store, LATER).changeEvent("retry", id);

  test("a requested event is listed, oldest first, until it is planned", async () => {
    const [first, second] = [await acceptParked("evt_1"), await acceptParked("evt_2")];
    await acceptParked("evt_3");
    expect(await fixture.store.listStuck(ALL)).toEqual([]);
    expect(await isRequested()).not.toBe(true);
    for (const id of ["evt_2", "evt_1", "evt_1"]) expect(await request(id)).toMatchObject({ readAgain: 1 });
    expect(await isRequested()).not.toBe(false);
    const both = [
      { seq: first, id: "evt_1" },
      { seq: second, id: "evt_2" },
    ];
    expect(await fixture.store.listStuck(ALL)).toEqual(both);
    expect(await fixture.store.listStuck({ ...ALL, limit: 1 })).toEqual(both.slice(0, 1));
    expect(await fixture.store.listStuck({ ...ALL, limit: 1, afterSeq: first })).toEqual(both.slice(1));
    expect(await noteOf("evt_1")).toMatchObject({ state: "parked", retryRequestedAt: isoTime(LATER) });

    await fixture.store.replan({ seq: first, handlers: ["h"], now: LATER, requested: true });
    const parked = { reason: "bad_data", detail: "no subject" };
    await fixture.store.replan({ seq: second, handlers: [], parked, now: LATER, requested: true });
    expect(await fixture.store.listStuck(ALL)).toEqual([]);
    expect(await isRequested()).not.toBe(true);
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "pending" });
    expect(await noteOf("evt_2")).toMatchObject({ reason: "bad_data", retryRequestedAt: null });

    expect(await request("evt_2")).toMatchObject({ readAgain: 1 });
    expect(await fixture.store.listStuck(ALL)).toEqual(both.slice(1));
  });

  test("an event that was understood has no request, whatever the state of its work", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    expect(await request("evt_1")).toMatchObject({ readAgain: 0 });
    await fixture.store.settle(settlements.parked(lease));
    expect(await request("evt_1")).toMatchObject({ readAgain: 0 });
    expect(await fixture.store.listStuck(ALL)).toEqual([]);
  });

  test.each(["never requested", "planned", "discarded"])(
    "a requested plan changes nothing once it is %s",
    async (how) => {
      const seq = await acceptParked("evt_1");
      if (how !== "never requested") await request("evt_1");
      if (how === "planned") await fixture.store.replan({ seq, handlers: ["g"], now: LATER, requested: true });
      if (how === "discarded") await operate(fixture.store, LATER).changeEvent("discard", "evt_1");
      const before = await operate(fixture.store).getEvent("evt_1");
      expect(await fixture.store.replan({ seq, handlers: ["h"], now: LATER, requested: true })).toBe(0);
      expect(await operate(fixture.store).getEvent("evt_1")).toEqual(before);
    },
  );
}

export function describeReplan(fixture: Fixture): void {
  test("replan of a pruned event plans nothing", async () => {
    const before = await snapshot(fixture.store);
    for (const parked of [undefined, NOTE]) {
      const plan = { seq: 4711, handlers: ["h"], now: LATER, ...(parked && { parked }) };
      expect(await fixture.store.replan(plan)).toBe(0);
    }
    expect(await snapshot(fixture.store)).toEqual(before);
  });
}

const UNTIL = T + 30 * MINUTE;
const NOW = T + MINUTE;

/** Work that waits for its next run is run now. */
export function describeRunNow(fixture: Fixture): void {
  const runAll = async (choice: WorkChoice = {}, now = NOW) => {
    const { events, work } = await operate(fixture.store, now).changeWork("run", choice);
    return { events, work };
  };

  /** An event whose run has failed and is to be repeated. */
  async function acceptFailed(id: string, change: Partial<NewEvent> = {}, dueAt = UNTIL): Promise<void> {
    await fixture.store.settle(settlements.pending(await acceptLeased(fixture.store, id, change), dueAt));
  }

  const viewOf = async (id: string) => (await operate(fixture.store).getEvent(id))?.handlers[0];

  describe("work that waits for its next run", () => {
    test("it is due at once and keeps its attempts and its error", async () => {
      const { store } = fixture;
      await acceptFailed("evt_1");
      const before = await viewOf("evt_1");
      expect(await leasePage(store, { now: NOW })).toMatchObject({ work: [], nextDueAt: UNTIL });
      expect(await operate(store, NOW).changeEvent("run", "evt_1")).toEqual({ work: 1, readAgain: 0 });
      expect(await viewOf("evt_1")).toEqual({ ...before, dueAt: isoTime(NOW) });
      const [work] = (await leasePage(store, { now: NOW, leaseUntil: NOW + MINUTE })).work;
      expect(work).toMatchObject({ eventId: "evt_1", attempt: 2, failures: 1, crashes: 0, dueAt: NOW });
    });

    test("the wait after the next failure is not shortened when the clock is set back", async () => {
      const { store } = fixture;
      await acceptFailed("evt_1", {}, T + 3 * DAY);
      await operate(store, T + DAY).changeEvent("run", "evt_1");
      await store.restartWaits({ now: T, leaseUntil: T + MINUTE });
      expect(idsOf(await leasePage(store))).toEqual(["evt_1"]);
    });

    test("more than one page of several handlers runs to the last piece, and crashed work with it", async () => {
      const { store } = fixture;
      for (let index = 0; index < 3; index += 1) await acceptLeased(store, `crashed_${index}`);
      await crash(store);
      const crashed = (await leasePage(store, { now: T + DAY, leaseUntil: T + 2 * DAY })).work;
      for (const lease of crashed) await store.settle(settlements.pending(lease, T + 3 * DAY));
      const count = fixture.kind.page + 10;
      for (let index = 0; index < count; index += 1) {
        await acceptFailed(`evt_${index}`, { work: [{ handler: `g${index % 3}`, leaseUntil: T + MINUTE }] });
        if (index % 2 === 0) await acceptFailed(`h_${index}`);
      }
      const waiting = 3 + count + Math.ceil(count / 2);
      expect(crashed).toHaveLength(3);
      expect(await runAll({ type: "email.sent" })).toEqual({ events: 0, work: 0 });
      expect(await runAll()).toEqual({ events: waiting, work: waiting });
      expect(await runAll()).toEqual({ events: 0, work: 0 });
      expect(await statesOf(store, "h_0")).toEqual({ h: "retrying" });
    });
  });
}
