import { describe, expect, test } from "vitest";
import type { AcceptResult, NewEvent } from "#pigeonhole/store/store.js";
import { acceptLeased, crash, leasePage, snapshot } from "./lease-page.js";
import { bare, DAY, MINUTE, newEvent, NOTHING_TO_PRUNE, settlements, T } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { operate } from "../../support/operate.js";

const parked = { reason: "bad_data", detail: "data.total: invalid_type" };
const textOf = (body: Uint8Array | undefined): string => Buffer.from(body ?? "missing").toString();

const DIGEST = /^evt_1#[0-9a-f]{16}$/;

export function describeOtherBytes(fixture: Fixture): void {
  function accept(text: string, change: Partial<NewEvent> = {}): Promise<AcceptResult> {
    return fixture.store.accept(newEvent("evt_1", { body: Buffer.from(text), ...change }));
  }

  /** A body of evt_1 that is not understood. */
  const acceptParked = (text: string): Promise<AcceptResult> => accept(text, { work: [], parked });

  /** Ids as they are listed, oldest first. */
  async function ids(): Promise<string[]> {
    return (await operate(fixture.store).listEvents({ limit: 500 })).items.map(({ id }) => id).toReversed();
  }

  async function handlersOf(id: string) {
    return (await fixture.store.getEvent(id))?.handlers.map(({ handler, state, reason, discarded }) => ({
      handler,
      state,
      reason,
      discarded,
    }));
  }

  async function replan(id: string, handlers: readonly string[], now = T + DAY): Promise<number> {
    const seq = (await fixture.store.getEvent(id))?.seq ?? expect.unreachable();
    return fixture.store.replan({ seq, handlers, now });
  }

  async function pruneAll(): Promise<void> {
    while ((await fixture.store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY })) > 0);
  }

  /** Leases what is due for `h` and settles it as done; returns the bodies. */
  async function handle(): Promise<string[]> {
    const { work } = await leasePage(fixture.store, { now: T + DAY });
    for (const lease of work) await fixture.store.settle(settlements.done(bare(lease)));
    return work.map(({ body }) => textOf(body));
  }

  const ENDED = [{ handler: "h", state: "done", reason: "other_bytes", discarded: true }];

  describe("other bytes under the id of a parked event", () => {
    test("other bytes under the id of a parked event are kept next to it and handled as their own event", async () => {
      await acceptParked("first");
      const result = await accept("second", { work: [{ handler: "h", leaseUntil: T + MINUTE }, { handler: "i" }] });
      expect(result).toMatchObject({ kind: "stored", otherBytes: true, leases: [{ handler: "h" }] });
      const { work } = await leasePage(fixture.store, { handler: "i" });
      expect(work).toMatchObject([{ eventId: "evt_1" }]);
      expect(textOf(work[0]?.body)).toBe("second");
      const [first, second = ""] = await ids();
      expect(first).toBe("evt_1");
      expect(second).toMatch(DIGEST);
      expect(await fixture.store.getEvent("evt_1")).toMatchObject({ state: "parked", otherBytes: [second] });
      expect(textOf((await fixture.store.getEvent("evt_1"))?.body ?? undefined)).toBe("first");
      expect(await fixture.store.getEvent(second)).toMatchObject({ state: "leased", otherBytes: ["evt_1"] });
    });

    test("other bytes under the id of a parked event are a duplicate when they come again", async () => {
      await acceptParked("first");
      await accept("second");
      await acceptParked("first");
      const before = await snapshot(fixture.store);
      for (const text of ["first", "second"]) {
        expect(await accept(text)).toEqual({ kind: "duplicate", otherBytes: false });
      }
      expect(await snapshot(fixture.store)).toEqual(before);
    });

    test("other bytes under the id of a parked event are kept each, while none of them is understood", async () => {
      for (const text of ["first", "second", "third"]) {
        expect(await acceptParked(text)).toMatchObject({ kind: "stored", otherBytes: text !== "first" });
      }
      expect(await ids()).toHaveLength(3);
      expect(await accept("fourth")).toMatchObject({ kind: "stored" });
      expect(await accept("fifth")).toEqual({ kind: "duplicate", otherBytes: true });
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
      expect(await replan("evt_1", ["h"])).toBe(0);
      expect(await handlersOf("evt_1")).toEqual(ENDED);
    });
  });

  describe("several bodies under one id", () => {
    test("a retry of a second body counts as done if a handler has done the first, and says so", async () => {
      await acceptParked("first");
      await accept("second");
      expect(await handle()).toEqual(["second"]);
      for (let retries = 0; retries < 2; retries += 1) {
        expect(await replan("evt_1", ["h"])).toBe(0);
        expect(await handlersOf("evt_1")).toEqual(ENDED);
      }
      expect(await handle()).toEqual([]);
    });

    test("a handler gets one of several bodies of an id at a time, even if both are retried at once", async () => {
      await acceptParked("first");
      await acceptParked("second");
      const [, second = ""] = await ids();
      expect(await replan("evt_1", ["h"])).toBe(1);
      expect(await replan(second, ["h", "i"])).toBe(1);
      expect(await handle()).toEqual(["first"]);
      expect((await leasePage(fixture.store, { handler: "i", now: T + DAY })).work).toHaveLength(1);
      expect(await handlersOf(second)).toMatchObject([
        { handler: "h", reason: "other_bytes" },
        { handler: "i", state: "leased" },
      ]);
    });

    test.each(["dead", "discarded"])("another body of an id may be handled when the handled one is %s", async (how) => {
      await acceptParked("first");
      await accept("second");
      const [, second = ""] = await ids();
      const { work } = await leasePage(fixture.store);
      const lease = bare(work[0] ?? expect.unreachable());
      await fixture.store.settle(settlements.dead(lease));
      if (how === "discarded") await operate(fixture.store).changeEvent("discard", second);
      expect(await replan("evt_1", ["h"])).toBe(1);
      expect(await replan(second, ["h"])).toBe(0);
      expect(await handle()).toEqual(["first"]);
      expect(await replan(second, ["h"])).toBe(0);
      expect(await handlersOf(second)).toEqual(ENDED);
    });

    test("each of several bodies of an id can be discarded alone", async () => {
      await acceptParked("first");
      await acceptParked("second");
      const [, second = ""] = await ids();
      expect(await operate(fixture.store).changeEvent("discard", "evt_1")).toEqual({ work: 1, readAgain: 0 });
      expect(await fixture.store.getEvent(second)).toMatchObject({ state: "parked" });
      expect(await fixture.store.listStuck({ state: "parked", limit: 9, afterSeq: 0 })).toMatchObject([{ id: second }]);
    });

    test("none of several bodies of an id is pruned while one of them is not settled", async () => {
      await acceptParked("first");
      await accept("second");
      await handle();
      await pruneAll();
      expect(await ids()).toHaveLength(2);
      await operate(fixture.store).changeEvent("discard", "evt_1");
      await pruneAll();
      await pruneAll();
      expect(await ids()).toEqual([]);
      expect(await acceptParked("first")).toMatchObject({ kind: "stored", otherBytes: false });
      expect(await replan("evt_1", ["h"])).toBe(1);
    });

    test("a pruned body of an id still counts as done for the first of them", async () => {
      await acceptParked("first");
      await accept("second");
      await handle();
      await operate(fixture.store).changeEvent("discard", "evt_1");
      await pruneAll();
      expect(await ids()).toEqual(["evt_1"]);
      // The number of the one that is gone is given again, to an event that is pending.
      await fixture.store.accept(newEvent("evt_2", { work: [{ handler: "i" }] }));
      expect(await replan("evt_1", ["h"])).toBe(0);
      expect(await handlersOf("evt_1")).toEqual(ENDED);
    });
  });
}
