import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { acceptLeased, statesOf } from "./lease-page.js";
import { type Fixture } from "./fixture.js";
import { newEvent, settlements, T } from "./new-event.js";
import { operate } from "../../support/operate.js";

const NOTE = { reason: "unknown_type", detail: "no such type" };
const LATER = T + 5;
const ALL = { state: "requested", limit: 10, afterSeq: 0 } as const;

export function describeRequestedRetries(fixture: Fixture): void {
  async function acceptParked(id: string): Promise<number> {
    const result = await fixture.store.accept(newEvent(id, { work: [], parked: NOTE }));
    return result.kind === "stored" ? result.seq : expect.unreachable();
  }

  const noteOf = async (id: string): Promise<unknown> => (await operate(fixture.store).getEvent(id))?.handlers[0];

  const request = (id: string) => operate(fixture.store, LATER).changeEvent("retry", id);

  describe("a requested retry", () => {
    test("a requested event is listed, oldest first, until it is planned", async () => {
      const [first, second] = [await acceptParked("evt_1"), await acceptParked("evt_2")];
      await acceptParked("evt_3");
      expect(await fixture.store.listStuck(ALL)).toEqual([]);
      for (const id of ["evt_2", "evt_1", "evt_1"]) expect(await request(id)).toMatchObject({ readAgain: 1 });
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
  });
}
