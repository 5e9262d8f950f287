import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { snapshot, statesOf } from "./lease-page.js";
import { expectCode, DAY, newEvent, T, NOTHING_TO_PRUNE } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { countWork, operate } from "../../support/operate.js";

const NOTE = { reason: "unknown_type", detail: "no such type" };
const LATER = T + DAY;

export function describeReplan(fixture: Fixture): void {
  async function seqOf(id: string): Promise<number> {
    return (await operate(fixture.store).getEvent(id))?.seq ?? expect.unreachable();
  }

  describe("replan", () => {
    test("replan removes the note of an event that is understood now", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [], parked: NOTE }));
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: ["h"], now: LATER })).toBe(1);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "pending" });
    });

    test("replan without handlers leaves an event unhandled that is understood now", async () => {
      await fixture.store.accept(newEvent("evt_1", { work: [], parked: NOTE }));
      expect(await fixture.store.replan({ seq: await seqOf("evt_1"), handlers: [], now: LATER })).toBe(0);
      expect(await operate(fixture.store).getEvent("evt_1")).toMatchObject({ state: "unhandled", handlers: [] });
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
      expect((await operate(fixture.store).getEvent("evt_1"))?.handlers).toMatchObject([note]);
      expect(await countWork(fixture.store, T)).toMatchObject({ parked: 1 });
    });
  });

  describe("discard", () => {
    test("discard of an unknown id is refused, and a second discard ends nothing", async () => {
      await fixture.store.accept(newEvent("evt_1"));
      await expectCode(operate(fixture.store, LATER).changeEvent("discard", "evt_2"), "not_found");
      expect(await operate(fixture.store, LATER).changeEvent("discard", "evt_1")).toEqual({ work: 1, readAgain: 0 });
      expect(await operate(fixture.store, LATER).changeEvent("discard", "evt_1")).toEqual({ work: 0, readAgain: 0 });
    });
  });
}
