import { expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Fixture } from "./fixture.js";
import { MINUTE, newEvent, T, bare, DAY, settlements } from "./new-event.js";
import { acceptLeased, idsOf, leasePage, snapshot, statesOf } from "./lease-page.js";
import { countWork, operate } from "../../support/operate.js";
import type { AcceptResult, NewEvent } from "#pigeonhole/store/store.js";

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, index) => index);

export function describeAccept(fixture: Fixture): void {
  test("accept keeps every field of the event", async () => {
    const event = newEvent("evt_1", { type: "email.sent", test: true, receivedAt: T + 3, signedAt: T - 7 });
    const result = await fixture.store.accept(event);
    expect(result).toMatchObject({ kind: "stored", leases: [] });
    expect(await operate(fixture.store).getEvent("evt_1")).toMatchObject({
      id: "evt_1",
      type: "email.sent",
      test: true,
      receivedAt: isoTime(T + 3),
      signedAt: isoTime(T - 7),
      state: "pending",
      seq: result.kind === "stored" ? result.seq : undefined,
      handlers: [{ handler: "h", state: "pending", attempts: 0, dueAt: isoTime(T + 3) }],
    });
  });

  test.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array(0)],
    ["one NUL", new Uint8Array(1)],
    ["every byte", EVERY_BYTE],
    ["text that is not UTF-8", Buffer.from([0xff, 0xfe, 0x22, 0xc3, 0x28])],
    ["a megabyte", Buffer.alloc(1024 * 1024, EVERY_BYTE)],
    ["a small part of a larger buffer", EVERY_BYTE.subarray(100, 103)],
    ["the greater part of a larger buffer", EVERY_BYTE.subarray(1, 250)],
  ])("the store keeps a body of %s byte for byte", async (_, body) => {
    await fixture.store.accept(newEvent("evt_1", { body }));
    const stored = await operate(fixture.store).getEvent("evt_1");
    expect(Buffer.from(stored?.body ?? "missing").equals(body)).toBe(true);
    const { work } = await leasePage(fixture.store);
    expect(Buffer.from(work[0]?.body ?? "missing").equals(body)).toBe(true);
  });

  test("bodies of batches that follow one another are kept apart, whatever their lengths", async () => {
    const batches = [[4096, 100, 4096], [700_000, 700_000], [10], [], [4096, 4096, 0, 3], [200_000]];
    const bodies = new Map<string, Uint8Array>();
    for (const [batch, lengths] of batches.entries()) {
      const events = lengths.map((length, place) => {
        const body = new Uint8Array(length).fill(16 * batch + place);
        bodies.set(`evt_${batch}_${place}`, body);
        return newEvent(`evt_${batch}_${place}`, { body });
      });
      await Promise.all(events.map((event) => fixture.store.accept(event)));
    }
    for (const [id, body] of bodies) {
      const stored = await operate(fixture.store).getEvent(id);
      expect(Buffer.from(stored?.body ?? "missing").equals(body), id).toBe(true);
    }
  });

  test.each(["evt_ü", "evt_\u{1f54a}", "a'; --", "__proto__", "evt_1 ", "EVT_1"])(
    "the store keeps the id %j unchanged",
    async (id) => {
      await fixture.store.accept(newEvent("evt_1"));
      expect(await fixture.store.accept(newEvent(id))).toMatchObject({ kind: "stored" });
      expect((await operate(fixture.store).getEvent(id))?.id).toBe(id);
    },
  );

  test("an event that was not understood is parked with its note, next to the work that it makes", async () => {
    const parked = { reason: "unknown_type", detail: "no such type" };
    await fixture.store.accept(newEvent("raw:1", { type: "", work: [], parked }));
    await fixture.store.accept(newEvent("evt_2", { parked }));
    const note = {
      handler: "",
      state: "parked",
      reason: "unknown_type",
      error: "no such type",
      settledAt: isoTime(T),
    };
    expect(await operate(fixture.store).getEvent("raw:1")).toMatchObject({
      type: "",
      state: "parked",
      handlers: [note],
    });
    expect(await operate(fixture.store).getEvent("evt_2")).toMatchObject({
      state: "parked",
      handlers: [note, { handler: "h" }],
    });
    expect(idsOf(await leasePage(fixture.store))).toEqual(["evt_2"]);
  });

  test("accepting 200 copies of one event at once stores one, with one lease", async () => {
    const copy = newEvent("evt_1", { work: [{ handler: "h", leaseUntil: T + MINUTE }] });
    const results = await Promise.all(Array.from({ length: 200 }, () => fixture.store.accept({ ...copy })));
    const stored = results.filter((result) => result.kind === "stored");
    expect(stored).toHaveLength(1);
    expect(stored[0]?.leases).toHaveLength(1);
    expect(results.filter((result) => result.kind === "duplicate" && !result.otherBytes)).toHaveLength(199);
    expect(await countWork(fixture.store, T)).toMatchObject({ pending: 0, running: 1 });
  });

  test("accepting 600 events at once stores each under its own number, with its own bytes and lease", async () => {
    const bodies = new Map(Array.from({ length: 600 }, (_, index) => [`evt_${index}`, `${index} `.repeat(index % 7)]));
    const results = await Promise.all(
      [...bodies].map(([id, text], index) => {
        const work = index % 2 === 0 ? [{ handler: "h" }] : [{ handler: "i", leaseUntil: T + MINUTE }];
        return fixture.store.accept(newEvent(id, { body: Buffer.from(text), work }));
      }),
    );
    expect(new Set(results.map((result) => (result.kind === "stored" ? result.seq : -1))).size).toBe(600);
    const { work } = await leasePage(fixture.store, { limit: 600 });
    expect(work).toHaveLength(300);
    const others = [...bodies].filter((_, index) => index % 20 === 1);
    for (const { eventId, body } of work) expect(Buffer.from(body).toString()).toBe(bodies.get(eventId));
    for (const [id, text] of others) {
      const event = await operate(fixture.store).getEvent(id);
      expect(Buffer.from(event?.body ?? "missing").toString()).toBe(text);
    }
    const leases = results.flatMap((result) => (result.kind === "stored" ? result.leases : []));
    expect(await fixture.store.renew(leases, T + MINUTE)).toEqual([]);
  });

  const mixed = newEvent("evt_1", {
    work: [{ handler: "b", leaseUntil: T + MINUTE }, { handler: "waits" }, { handler: "a", leaseUntil: T + MINUTE }],
  });

  test("work that is leased when it is accepted is returned in the order asked for, and the rest is pending", async () => {
    const result = await fixture.store.accept(mixed);
    expect(result.kind === "stored" && result.leases.map(({ handler }) => handler)).toEqual(["b", "a"]);
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ a: "running", b: "running", waits: "pending" });
  });
}

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

  test.each(["has a finished step", "was parked by a later run"])(
    "other bytes under an id are not kept when the first event %s",
    async (what) => {
      let lease = await acceptLeased(fixture.store, "evt_1");
      if (what === "has a finished step") await fixture.store.saveStep(lease, "charge", "1", T);
      else {
        await fixture.store.settle(settlements.pending(lease, T));
        [lease = expect.unreachable()] = (await leasePage(fixture.store)).work;
      }
      await fixture.store.settle(settlements.parked(bare(lease)));
      const before = await snapshot(fixture.store);
      expect(await accept("second")).toEqual({ kind: "duplicate", otherBytes: true });
      expect(await snapshot(fixture.store)).toEqual(before);
    },
  );

  test("of bodies that come at once under the id of a parked event, one is handled", async () => {
    await acceptParked("first");
    const results = await Promise.all(["a", "b", "c"].map((text) => accept(text)));
    expect(results.filter(({ kind }) => kind === "stored")).toHaveLength(1);
    expect(await handle()).toHaveLength(1);
  });
}
