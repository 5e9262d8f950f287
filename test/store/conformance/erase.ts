import { expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { EraseCounts, EraseOptions } from "#pigeonhole/store/erase.js";
import { expectCode, DAY, newEvent, settlements, T } from "./new-event.js";
import { acceptLeased, leasePage, snapshot, statesOf } from "./lease-page.js";
import { type Fixture } from "./fixture.js";
import { newRecord, RESULTS, sendSettlements } from "./new-record.js";
import { leaseSend, outboxOf, outboxSnapshot, settleAll, takeSend } from "./outbox-fixture.js";
import { operate, retryOutbox } from "../../support/operate.js";

const EMAIL = "ann@example.com";
const LATER = T + DAY;

const bodyWith = (email: string): Buffer => Buffer.from(JSON.stringify({ data: { to: [email] } }));
const ANNS = { body: bodyWith("Ann@Example.com") };

const contactOf = (key: string, email: string) =>
  newRecord(key, { body: JSON.stringify({ name: `n_${key}`, email, occurredAt: new Date(T).toISOString() }) });

export function describeErase(fixture: Fixture): void {
  const eraseAll = (options: Partial<EraseOptions> = {}): Promise<EraseCounts> =>
    operate(fixture.store, LATER).erase({ email: EMAIL, ...options });

  /** Keys, and the addresses of their contacts. */
  async function recordContacts(contacts: Record<string, string>): Promise<void> {
    for (const [key, email] of Object.entries(contacts)) await fixture.store.record(contactOf(key, email), T);
  }

  async function settle(id: string, to: "done" | "pending" | "dead" | "parked", body: Buffer): Promise<void> {
    await fixture.store.settle(settlements[to](await acceptLeased(fixture.store, id, { body })));
  }

  test("an event that mentions the address loses its body, and another event keeps it", async () => {
    await settle("evt_1", "done", ANNS.body);
    await settle("evt_2", "done", bodyWith("joann@example.com"));
    const other = await operate(fixture.store).getEvent("evt_2");
    expect(await eraseAll()).toMatchObject({ events: 1, work: 0, eventsLeft: 0 });
    expect(await operate(fixture.store).getEvent("evt_1")).toMatchObject({ body: null, state: "done" });
    expect(await operate(fixture.store).getEvent("evt_2")).toEqual(other);
  });

  test.each(["pending", "dead", "parked"] as const)("the %s work of an erased event ends as discarded", async (to) => {
    await settle("evt_1", to, ANNS.body);
    expect(await eraseAll()).toMatchObject({ events: 1, work: 1 });
    const [work] = (await operate(fixture.store).getEvent("evt_1"))?.handlers ?? [];
    expect(work).toMatchObject({
      handler: "h",
      state: "discarded",
      error: null,
      settledAt: isoTime(LATER),
    });
    expect((await leasePage(fixture.store, { now: T + 2 * DAY })).work).toEqual([]);
  });

  test("a redelivery of an erased event is a duplicate, with the same bytes and with others", async () => {
    await settle("evt_1", "parked", ANNS.body);
    await eraseAll();
    expect(await fixture.store.accept(newEvent("evt_1", ANNS))).toEqual({ kind: "duplicate", otherBytes: false });
    const others = newEvent("evt_1", { body: Buffer.from("{}") });
    expect(await fixture.store.accept(others)).toEqual({ kind: "duplicate", otherBytes: true });
    expect((await leasePage(fixture.store, { now: T + 2 * DAY })).work).toEqual([]);
  });

  test("an event that is being handled keeps what it has, its other work ends, and it is erased afterwards", async () => {
    const accepted = await fixture.store.accept(
      newEvent("evt_1", { ...ANNS, work: [{ handler: "h", leaseUntil: T + DAY }, { handler: "waits" }] }),
    );
    const [lease] = accepted.kind === "stored" ? accepted.leases : [];
    expect(await eraseAll()).toMatchObject({ events: 0, eventsLeft: 1, work: 1 });
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "running", waits: "discarded" });
    expect(Buffer.from((await operate(fixture.store).getEvent("evt_1"))?.body ?? [])).toEqual(ANNS.body);
    expect(await fixture.store.settle(settlements.done(lease ?? expect.unreachable()))).toBe("settled");
    expect(await eraseAll()).toMatchObject({ events: 1, eventsLeft: 0, work: 0 });
    expect((await operate(fixture.store).getEvent("evt_1"))?.body).toBeNull();
  });

  test("an event with the address in a step's value or an error text is found, and loses both", async () => {
    const steps = await acceptLeased(fixture.store, "evt_1", { body: Buffer.from("{}") });
    await fixture.store.saveStep(steps, "load", String.raw`{"to":"ann\u0040example.com"}`, T);
    await fixture.store.settle(settlements.pending(steps));
    const failed = await acceptLeased(fixture.store, "evt_2", { body: Buffer.from("{}") });
    await fixture.store.settle({ ...settlements.dead(failed), error: "no contact <ann@example.com>" });
    expect(await eraseAll()).toMatchObject({ events: 2, work: 2 });
    expect(await fixture.store.loadSteps(steps)).toEqual({});
    expect(JSON.stringify(await snapshot(fixture.store))).not.toContain(EMAIL);
  });

  test("a dry run gives the same counts and changes nothing", async () => {
    await settle("evt_1", "done", ANNS.body);
    await settle("evt_2", "dead", ANNS.body);
    await acceptLeased(fixture.store, "evt_3", ANNS);
    await fixture.store.record(contactOf("a", EMAIL), T);
    const before = [await snapshot(fixture.store), await outboxSnapshot(fixture.store)];
    const counts = { events: 2, work: 1, eventsLeft: 1, contactEvents: 1, contactEventsLeft: 0 };
    expect(await eraseAll({ dryRun: true })).toMatchObject(counts);
    expect([await snapshot(fixture.store), await outboxSnapshot(fixture.store)]).toEqual(before);
    expect(await eraseAll()).toMatchObject(counts);
  });

  test("more than one page of large and of many events is erased", async () => {
    const large = Buffer.from(JSON.stringify({ to: EMAIL, fill: "x".repeat(4 * 1024 * 1024) }));
    for (const id of ["a", "b"]) await fixture.store.accept(newEvent(id, { body: large }));
    for (let id = 0; id < 205; id += 1) await fixture.store.accept(newEvent(`evt_${id}`, ANNS));
    expect(await eraseAll()).toMatchObject({ events: 207 });
  });

  test("erase refuses a text that is not one address", async () => {
    await expectCode(eraseAll({ email: "ann" }), "invalid_argument");
  });

  const bodies = async () =>
    Object.fromEntries((await outboxOf(fixture.store)).map(({ key, body }) => [key, JSON.parse(body) as unknown]));
  const states = async () => Object.fromEntries((await outboxOf(fixture.store)).map(({ key, state }) => [key, state]));

  test("an erased event that was sent keeps its key and its name, and its key stays taken", async () => {
    await recordContacts({ a: EMAIL, b: "b@example.com" });
    await settleAll(fixture.store, await takeSend(fixture.store), "done");
    expect(await eraseAll()).toMatchObject({ contactEvents: 1, contactEventsLeft: 0 });
    expect(await bodies()).toMatchObject({ a: { erased: true, name: "n_a" }, b: { email: "b@example.com" } });
    expect(await fixture.store.record(contactOf("a", EMAIL), LATER)).toBe("known");
    expect((await leaseSend(fixture.store, { now: LATER })).send).toBeUndefined();
    expect(await eraseAll()).toMatchObject({ contactEvents: 0 });
  });

  test("an erased event that waits is not sent any more", async () => {
    await recordContacts({ a: EMAIL, b: "b@example.com" });
    expect(await eraseAll()).toMatchObject({ contactEvents: 1 });
    expect(await states()).toEqual({ a: "discarded", b: "pending" });
    expect((await takeSend(fixture.store)).events.map(({ body }) => body)).toEqual([
      contactOf("b", "b@example.com").body,
    ]);
  });

  test("an erased event that the service refused loses the service's message too, and cannot be retried", async () => {
    await fixture.store.record(contactOf("a", "b@example.com"), T);
    const send = await takeSend(fixture.store);
    const refused = { ...RESULTS.dead(send.events[0]?.seq ?? 0), message: `no contact ${EMAIL}` };
    await fixture.store.settleSend(sendSettlements.settled(send, [refused]));
    expect(await eraseAll()).toMatchObject({ contactEvents: 1 });
    expect(JSON.stringify(await outboxSnapshot(fixture.store))).not.toContain(EMAIL);
    expect(await retryOutbox(fixture.store, "a", LATER)).toBe(false);
  });

  test.each(["running", "pending"] as const)(
    "a frozen call that is %s is repeated unchanged after an erasure",
    async (state) => {
      await recordContacts({ a: EMAIL, b: "b@example.com" });
      const send = await takeSend(fixture.store);
      if (state === "pending") await fixture.store.settleSend(sendSettlements.pending(send));
      expect(await eraseAll()).toMatchObject({ contactEvents: 0, contactEventsLeft: 1 });
      const again = await takeSend(fixture.store, { now: LATER, leaseUntil: LATER + DAY });
      expect(again.events).toEqual(send.events);
      await settleAll(fixture.store, again, "done");
      expect(await eraseAll()).toMatchObject({ contactEvents: 1, contactEventsLeft: 0 });
    },
  );

  test("a call that was given up ends with the erasure of the last event that could be sent again", async () => {
    await recordContacts({ a: EMAIL, b: EMAIL });
    await fixture.store.settleSend(sendSettlements.dead(await takeSend(fixture.store)));
    expect(await eraseAll({ dryRun: true })).toMatchObject({ contactEvents: 2, contactEventsLeft: 0 });
    expect(await eraseAll()).toMatchObject({ contactEvents: 2, contactEventsLeft: 0 });
    expect(await bodies()).toEqual({ a: { erased: true, name: "n_a" }, b: { erased: true, name: "n_b" } });
    expect((await leaseSend(fixture.store, { now: LATER })).send).toBeUndefined();
  });

  test("a call that was given up and that other processes may have repeated keeps its members", async () => {
    await recordContacts({ a: EMAIL, b: "b@example.com" });
    const send = await takeSend(fixture.store);
    await fixture.store.settleSend(sendSettlements.dead(send));
    expect(await eraseAll()).toMatchObject({ contactEvents: 0, contactEventsLeft: 1 });
    expect(await states()).toEqual({ a: "discarded", b: "dead" });
    expect(await operate(fixture.store, LATER).changeContactEvent("discard", "b")).toBe(1);
    expect(await eraseAll()).toMatchObject({ contactEvents: 1, contactEventsLeft: 0 });
  });
}
