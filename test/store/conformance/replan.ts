import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { acceptLeased, idsOf, leasePage, snapshot, statesOf } from "./lease-page.js";
import { expectCode, bare, DAY, newEvent, settlements, T, NOTHING_TO_PRUNE } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { countWork, operate } from "../../support/operate.js";

const NOTE = { reason: "unknown_type", detail: "no such type" };
const LATER = T + DAY;

export function describeReplan(fixture: Fixture): void {
  async function seqOf(id: string): Promise<number> {
    return (await fixture.store.getEvent(id))?.seq ?? expect.unreachable();
  }

  /** An event with one handler in each state, named after it. */
  async function acceptAllStates(): Promise<number> {
    const names = ["running", "done", "dead", "parked", "pending"] as const;
    const work = names.map((handler) => ({ handler, leaseUntil: T + DAY }));
    const result = await fixture.store.accept(newEvent("evt_1", { work }));
    for (const lease of result.kind === "stored" ? result.leases : []) {
      if (lease.handler === "running") continue;
      await fixture.store.settle(settlements[lease.handler as keyof typeof settlements](lease));
    }
    return seqOf("evt_1");
  }

  describe("replan", () => {
    test("replan makes dead and parked work pending, and does not change other work", async () => {
      const seq = await acceptAllStates();
      expect(await fixture.store.replan({ seq, handlers: [], now: LATER })).toBe(2);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({
        running: "running",
        done: "done",
        dead: "pending",
        parked: "pending",
        pending: "retrying",
      });
      const due = Object.fromEntries(
        (await fixture.store.getEvent("evt_1"))?.handlers.map((h) => [h.handler, h.dueAt]) ?? [],
      );
      expect(due).toMatchObject({ dead: isoTime(LATER), parked: isoTime(LATER), pending: isoTime(T + 50) });
    });

    test.each(["dead", "parked"] as const)("replan gives %s work new attempts", async (to) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.settle(settlements[to](lease));
      await fixture.store.replan({ seq: lease.seq, handlers: ["h"], now: LATER });
      const [view] = (await fixture.store.getEvent("evt_1"))?.handlers ?? [];
      expect(view).toMatchObject({ state: "pending", attempts: 0, dueAt: isoTime(LATER) });
      expect([view?.reason, view?.settledAt]).toEqual([null, null]);
      const { work } = await leasePage(fixture.store, { now: LATER });
      expect(work).toMatchObject([{ attempt: 1, failures: 0, crashes: 0 }]);
    });

    test("replan does not run done work again, even if it is named", async () => {
      const seq = await acceptAllStates();
      expect(await fixture.store.replan({ seq, handlers: ["done", "running", "pending"], now: LATER })).toBe(2);
      expect((await statesOf(fixture.store, "evt_1"))["done"]).toBe("done");
      expect(await leasePage(fixture.store, { handler: "done", now: LATER })).toEqual({
        work: [],
        nextDueAt: undefined,
      });
    });

    test("replan keeps the lease of work that runs", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      expect(await fixture.store.replan({ seq: lease.seq, handlers: ["h"], now: LATER })).toBe(0);
      expect(await fixture.store.settle(settlements.done(lease))).toBe("settled");
    });

    test("replan plans the event for handlers that are new to it", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [] }));
      const seq = await seqOf("evt_1");
      expect(await fixture.store.replan({ seq, handlers: ["h", "i"], now: LATER })).toBe(2);
      expect(await fixture.store.replan({ seq, handlers: ["h", "i"], now: LATER })).toBe(0);
      expect(idsOf(await leasePage(fixture.store, { now: LATER }))).toEqual(["evt_1"]);
    });

    test("replan removes the note of an event that is understood now", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [], parked: NOTE }));
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: ["h"], now: LATER })).toBe(1);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "pending" });
    });

    test("replan without handlers leaves an event unhandled that is understood now", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [], parked: NOTE }));
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: [], now: LATER })).toBe(0);
      expect(await fixture.store.getEvent("evt_1")).toMatchObject({ state: "unhandled", handlers: [] });
    });

    test("replan does not change other events", async () => {
      await fixture.store.settle(settlements.dead(await acceptLeased(fixture.store, "other")));
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.settle(settlements.dead(lease));
      await fixture.store.replan({ seq: lease.seq, handlers: ["h"], now: LATER });
      expect(await statesOf(fixture.store, "other")).toEqual({ h: "dead" });
    });

    test("replan of a pruned event plans nothing", async () => {
      const before = await snapshot(fixture.store);
      for (const parked of [undefined, NOTE]) {
        const plan = { seq: 4711, handlers: ["h"], now: LATER, ...(parked && { parked }) };
        expect(await fixture.store.replan(plan)).toBe(0);
      }
      expect(await snapshot(fixture.store)).toEqual(before);
    });

    test("replan of an event without its body plans nothing, because it could not be leased", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [] }));
      await fixture.store.prune({ ...NOTHING_TO_PRUNE, bodiesBefore: T + 1 });
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: ["h"], now: LATER })).toBe(0);
      expect(await countWork(fixture.store, T)).toMatchObject({ pending: 0 });
    });
  });

  describe("replan of an event that is still not understood", () => {
    test("replan of an event that is still not understood replaces the note", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [], parked: NOTE }));
      const parked = { reason: "mismatch", detail: "another reason" };
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: [], parked, now: LATER })).toBe(0);
      const note = {
        handler: "",
        state: "parked",
        reason: "mismatch",
        error: "another reason",
        settledAt: isoTime(LATER),
      };
      expect((await fixture.store.getEvent("evt_1"))?.handlers).toMatchObject([note]);
      expect(await countWork(fixture.store, T)).toMatchObject({ parked: 1 });
    });

    test("replan of an event that is still not understood plans the given work and no other", async () => {
      const seq = await acceptAllStates();
      expect(await fixture.store.replan({ seq, handlers: ["dead", "done", "new"], parked: NOTE, now: LATER })).toBe(2);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({
        "": "parked",
        running: "running",
        done: "done",
        dead: "pending",
        parked: "parked",
        pending: "retrying",
        new: "pending",
      });
    });
  });

  describe("discard", () => {
    test("discard ends all work that is not running, and returns how much", async () => {
      await acceptAllStates();
      expect(await operate(fixture.store, LATER).changeEvent("discard", "evt_1")).toEqual({ work: 3, readAgain: 0 });
      const views = (await fixture.store.getEvent("evt_1"))?.handlers ?? [];
      expect(views.map(({ handler, state }) => [handler, state])).toEqual([
        ["dead", "discarded"],
        ["done", "done"],
        ["parked", "discarded"],
        ["pending", "discarded"],
        ["running", "running"],
      ]);
      expect(views[0]).toMatchObject({ attempts: 1, settledAt: isoTime(LATER) });
      expect(await countWork(fixture.store, T)).toMatchObject({ pending: 0, dead: 0, parked: 0, running: 1, done: 1 });
    });

    test("discard does not end running work", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      expect(await operate(fixture.store, LATER).changeEvent("discard", "evt_1")).toEqual({ work: 0, readAgain: 0 });
      expect(await fixture.store.settle(settlements.pending(lease, T))).toBe("settled");
      expect(idsOf(await leasePage(fixture.store))).toEqual(["evt_1"]);
    });

    test("discard of an unknown id is refused, and a second discard ends nothing", async () => {
      await fixture.store.accept(newEvent("evt_1"));
      await expectCode(operate(fixture.store, LATER).changeEvent("discard", "evt_2"), "not_found");
      expect(await operate(fixture.store, LATER).changeEvent("discard", "evt_1")).toEqual({ work: 1, readAgain: 0 });
      expect(await operate(fixture.store, LATER).changeEvent("discard", "evt_1")).toEqual({ work: 0, readAgain: 0 });
    });

    test("discard can be undone by a replan that names the handler", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [{ handler: "h" }, { handler: "i" }] }));
      await operate(fixture.store).changeEvent("discard", "evt_1");
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: ["h"], now: LATER })).toBe(1);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "pending", i: "discarded" });
      const { work } = await leasePage(fixture.store, { now: LATER });
      await fixture.store.settle(settlements.done(bare(work[0] ?? expect.unreachable())));
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: ["h"], now: LATER })).toBe(0);
    });

    test("discard of a note can be repeated after each replan", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [], parked: NOTE }));
      const seq = await seqOf("evt_1");
      for (let round = 0; round < 3; round += 1) {
        expect(await operate(fixture.store).changeEvent("discard", "evt_1")).toEqual({ work: 1, readAgain: 0 });
        expect((await fixture.store.getEvent("evt_1"))?.handlers).toMatchObject([{ handler: "", state: "discarded" }]);
        await fixture.store.replan({ seq, handlers: [], parked: NOTE, now: LATER });
        expect((await fixture.store.getEvent("evt_1"))?.handlers).toMatchObject([{ handler: "", state: "parked" }]);
      }
    });

    test("discard keeps the id", async () => {
      await fixture.store.accept(newEvent("evt_1"));
      await operate(fixture.store).changeEvent("discard", "evt_1");
      expect(await fixture.store.accept(newEvent("evt_1"))).toEqual({ kind: "duplicate", otherBytes: false });
    });
  });
}
