import { describe, expect, test } from "vitest";
import type { AcceptResult, NewEvent } from "#pigeonhole/store/store.js";
import { acceptLeased, crash, leasePage, snapshot } from "./lease-page.js";
import { bare, DAY, MINUTE, newEvent, settlements, T } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { operate } from "../../support/operate.js";

const parked = { reason: "bad_data", detail: "data.total: invalid_type" };
const textOf = (body: Uint8Array | null | undefined): string => Buffer.from(body ?? "missing").toString();

export function describeOtherBytes(fixture: Fixture): void {
  function accept(text: string, change: Partial<NewEvent> = {}): Promise<AcceptResult> {
    return fixture.store.accept(newEvent("evt_1", { body: Buffer.from(text), ...change }));
  }

  /** A body of evt_1 that is not understood. */
  const acceptParked = (text: string): Promise<AcceptResult> => accept(text, { work: [], parked });

  /** Leases what is due for `h` and settles it as done; returns the bodies. */
  async function handle(): Promise<string[]> {
    const { work } = await leasePage(fixture.store, { now: T + DAY });
    for (const lease of work) await fixture.store.settle(settlements.done(bare(lease)));
    return work.map(({ body }) => textOf(body));
  }

  describe("other bytes under the id of a parked event", () => {
    test("other bytes under the id of a parked event take its place, and are handled", async () => {
      await acceptParked("first");
      const before = await operate(fixture.store).getEvent("evt_1");
      const result = await accept("second", {
        type: "email.opened",
        receivedAt: T + 7,
        work: [{ handler: "h", leaseUntil: T + MINUTE }, { handler: "i" }],
      });
      expect(result).toMatchObject({ kind: "stored", otherBytes: true, leases: [{ handler: "h" }] });
      const { items } = await operate(fixture.store).listEvents();
      expect(items).toMatchObject([{ id: "evt_1", type: "email.opened", state: "running" }]);
      const after = await operate(fixture.store).getEvent("evt_1");
      expect(textOf(after?.body)).toBe("second");
      // What is about the number of the first finds nothing.
      const seq = before?.seq ?? expect.unreachable();
      expect(after?.seq).not.toBe(seq);
      expect(await fixture.store.replan({ seq, handlers: ["h"], now: T + DAY })).toBe(0);
      const { work } = await leasePage(fixture.store, { handler: "i", now: T + DAY });
      expect(work.map(({ eventId, body }) => [eventId, textOf(body)])).toEqual([["evt_1", "second"]]);
    });

    test("a body that is not understood takes no place, and the first that is understood does", async () => {
      expect(await acceptParked("first")).toMatchObject({ kind: "stored" });
      expect(await acceptParked("second")).toEqual({ kind: "duplicate", otherBytes: true });
      expect(await acceptParked("first")).toEqual({ kind: "duplicate", otherBytes: false });
      expect(await accept("third")).toMatchObject({ kind: "stored", otherBytes: true });
      expect(await acceptParked("first")).toEqual({ kind: "duplicate", otherBytes: true });
      expect(await handle()).toEqual(["third"]);
      expect(await accept("third")).toEqual({ kind: "duplicate", otherBytes: false });
      expect(await accept("fourth")).toEqual({ kind: "duplicate", otherBytes: true });
    });

    test("of bodies that come at once under the id of a parked event, one is handled", async () => {
      await acceptParked("first");
      const results = await Promise.all(["a", "b", "c"].map((text) => accept(text)));
      expect(results.filter(({ kind }) => kind === "stored")).toHaveLength(1);
      expect(await handle()).toHaveLength(1);
    });

    test.each<[string, () => Promise<unknown>]>([
      ["waits to be handled", () => accept("first")],
      ["is parked and has a handler as well", () => accept("first", { parked })],
      ["is being handled", () => accept("first", { work: [{ handler: "h", leaseUntil: T + MINUTE }] })],
      ["is done", async () => [await accept("first"), await handle()]],
      ["has no handler", () => accept("first", { work: [] })],
      ["is dead", async () => fixture.store.settle(settlements.dead(await acceptLeased(fixture.store, "evt_1")))],
      [
        "was discarded",
        async () => [await acceptParked("first"), await operate(fixture.store).changeEvent("discard", "evt_1")],
      ],
      [
        "has a finished step",
        async () => {
          const lease = await acceptLeased(fixture.store, "evt_1");
          await fixture.store.saveStep(lease, "charge", "1", T);
          await fixture.store.settle(settlements.parked(lease));
        },
      ],
      [
        "killed three processes",
        async () => {
          await accept("first");
          for (let death = 0; death < 3; death += 1) await crash(fixture.store);
        },
      ],
    ])("other bytes under an id are not kept when the first event %s", async (_, prepare) => {
      await prepare();
      const before = await snapshot(fixture.store);
      expect(await accept("second")).toEqual({ kind: "duplicate", otherBytes: true });
      expect(await snapshot(fixture.store)).toEqual(before);
    });

    test("other bytes under an id are kept when the first event was parked by its handler's schema", async () => {
      await fixture.store.settle(settlements.parked(await acceptLeased(fixture.store, "evt_1")));
      expect(await accept("second")).toMatchObject({ kind: "stored", otherBytes: true });
      expect(await handle()).toEqual(["second"]);
    });
  });
}
