import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { NewOutboxEvent, ComparableOutboxEvent, FrozenSend } from "#pigeonhole/store/outbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { expect, test } from "vitest";
import { T, settlements, TRACE, DAY, MINUTE } from "./new-event.js";
import { acceptLeased, statesOf } from "./lease-page.js";
import { type Fixture, writing } from "./fixture.js";
import { newRecord, RESULTS, callOf, membersOf, sendSettlements, waitingView } from "./new-record.js";
import { outboxOf, leaseSend, outboxStates, recordKeys, settleAll, takeSend } from "./outbox-fixture.js";
import { BLOCKING_TRIES } from "#pigeonhole/store/queries/outbox-calls.js";
import { countOutbox, operate, retryOutbox } from "../../support/operate.js";

type Records = readonly NewOutboxEvent[];

/** The two ways in which records travel with a done mark. */
const CARRIERS: Record<string, (store: Store<unknown>, lease: Lease, records: Records) => Promise<unknown>> = {
  settle: (store, lease, records) => store.settle({ ...settlements.done(lease), records }),
  commit: (store, lease, records) => store.commit({ ...settlements.done(lease), records }, () => undefined),
};

const bodyAt = (ms: number, name = "a"): string =>
  JSON.stringify({ name, email: "ada@example.com", occurredAt: new Date(ms).toISOString() });

export function describeOutboxRecord(fixture: Fixture): void {
  test.each<[string, Partial<ComparableOutboxEvent>, string]>([
    ["the same time, given", { body: bodyAt(T), isTimeGiven: true }, "known"],
    ["another time, given", { body: bodyAt(T + 1), isTimeGiven: true }, "conflict"],
    ["another time, that of the recording", { body: bodyAt(T + 1), isTimeGiven: false }, "known"],
    ["another name and the time of the recording", { body: bodyAt(T + 1, "b"), isTimeGiven: false }, "conflict"],
  ])("record under a known key with %s returns %j", async (_, change, result) => {
    await fixture.store.record(newRecord("a", { body: bodyAt(T) }), T);
    expect(await fixture.store.record(newRecord("a", change), T)).toBe(result);
    expect(await outboxOf(fixture.store)).toMatchObject([{ body: bodyAt(T) }]);
  });

  test("record called a hundred times at once stores one event", async () => {
    const results = await Promise.all(Array.from({ length: 100 }, () => fixture.store.record(newRecord("a"), T)));
    expect(results.toSorted()).toEqual([...Array.from({ length: 99 }, () => "known"), "recorded"]);
    expect(await outboxOf(fixture.store)).toHaveLength(1);
  });

  test.each(Object.entries(CARRIERS))(
    "records of a %s are stored with the done mark, in their order and at its time",
    async (_, carry) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await carry(fixture.store, lease, [newRecord("b"), newRecord("a")]);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "done" });
      expect(await outboxOf(fixture.store)).toMatchObject([
        { key: "b", state: "pending", recordedAt: isoTime(T + 5) },
        { key: "a", state: "pending", recordedAt: isoTime(T + 5) },
      ]);
    },
  );

  test("a commit whose function throws stores none of its records", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    const mine = new Error("mine");
    const fail = (): never => {
      throw mine;
    };
    const settlement = { ...settlements.done(lease), records: [newRecord("a")] };
    const outcome = fixture.store.commit(settlement, writing(fixture, "half", fail));
    await expect(outcome).rejects.toBe(mine);
    expect(await outboxOf(fixture.store)).toEqual([]);
    expect(await fixture.written()).toEqual([]);
  });
}

export function describeOutboxSend(fixture: Fixture): void {
  test("leaseSend gives the span in which each event was recorded, also when the call is repeated", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    const byHandler = [newRecord("a", { trace: TRACE }), newRecord("b")];
    await fixture.store.settle({ ...settlements.done(lease), records: byHandler });
    const committed = await acceptLeased(fixture.store, "evt_2");
    const records = [newRecord("c", { trace: `${TRACE},c=1` })];
    await fixture.store.commit({ ...settlements.done(committed), records }, () => undefined);
    await fixture.store.record(newRecord("d", { trace: `${TRACE},d=1` }), T);
    await recordKeys(fixture.store, "e");
    const send = await takeSend(fixture.store);
    const traces = [TRACE, undefined, `${TRACE},c=1`, `${TRACE},d=1`, undefined];
    expect(send.events.map(({ trace }) => trace)).toEqual(traces);
    await fixture.store.settleSend(sendSettlements.pending(send, T + 1));
    const again = await takeSend(fixture.store, { now: T + 1 });
    expect(again.events).toEqual(send.events);
    const [first = -1, ...rest] = again.events.map(({ seq }) => seq);
    const results = [RESULTS.again(first), ...rest.map((seq) => RESULTS.done(seq))];
    await fixture.store.settleSend(sendSettlements.settled(again, results));
    expect((await takeSend(fixture.store)).events).toMatchObject([{ seq: first, trace: TRACE }]);
  });

  test("leaseSend freezes several events into a batch in the order of recording, with a key that the service allows", async () => {
    await recordKeys(fixture.store, "b", "a", "c");
    const send = await takeSend(fixture.store);
    expect(send).toMatchObject({ kind: "batch", attempt: 1, key: expect.stringMatching(/^[A-Za-z0-9_.:-]{1,255}$/) });
    expect(membersOf(send)).toEqual(["b", "a", "c"]);
    expect(["a", "b", "c"]).not.toContain(send.key);
  });

  test("leaseSend gives the same members in another order another key", async () => {
    const keys: string[] = [];
    for (const order of [
      ["a", "b"],
      ["b", "a"],
    ]) {
      const lease = await acceptLeased(fixture.store, order.join());
      await fixture.store.settle({ ...settlements.done(lease), records: order.map((key) => newRecord(key)) });
      const send = await takeSend(fixture.store);
      keys.push(send.key);
      await settleAll(fixture.store, send, "done");
    }
    expect(new Set(keys).size).toBe(2);
  });

  test("leaseSend called ten times at once freezes one call", async () => {
    await recordKeys(fixture.store, "a", "b");
    const pages = await Promise.all(Array.from({ length: 10 }, () => leaseSend(fixture.store, { limit: 1 })));
    expect(pages.filter(({ send }) => send !== undefined)).toHaveLength(1);
    expect(await outboxStates(fixture.store)).toEqual({ a: "running", b: "pending" });
  });

  test("leaseSend lets others pass a call that has failed often, and gives it again when it is due", async () => {
    await recordKeys(fixture.store, "a");
    let first = await takeSend(fixture.store);
    const fail = () => fixture.store.settleSend(sendSettlements.pending(first, T + 50));
    while (first.attempt < BLOCKING_TRIES) {
      await fail();
      await recordKeys(fixture.store, `b${first.attempt}`);
      expect(await leaseSend(fixture.store, { now: T + 49 })).toEqual({ send: undefined, nextDueAt: T + 50 });
      first = await takeSend(fixture.store, { now: T + 50 });
    }
    await fail();
    const second = await takeSend(fixture.store, { now: T + 49 });
    expect(membersOf(second)).toEqual(Array.from({ length: BLOCKING_TRIES - 1 }, (_, index) => `b${index + 1}`));
    await fixture.store.settleSend(sendSettlements.pending(second, T + 60));
    await recordKeys(fixture.store, "c");
    // The second blocks the third, as the first did.
    expect(await leaseSend(fixture.store, { now: T + 49 })).toEqual({ send: undefined, nextDueAt: T + 60 });
    const again = await takeSend(fixture.store, { now: T + 50 });
    expect(callOf(again)).toEqual(callOf(first));
    expect((await fixture.store.glance?.({ handlers: [], now: T + 60 }))?.contactEvents).not.toBe(true);
    await settleAll(fixture.store, again, "done");
    await settleAll(fixture.store, await takeSend(fixture.store, { now: T + 60 }), "done");
    expect(membersOf(await takeSend(fixture.store))).toEqual(["c"]);
  });
}

export function describeOutboxSettle(fixture: Fixture): void {
  test("settleSend ends each event in its own way", async () => {
    await recordKeys(fixture.store, "a", "b", "c");
    const send = await takeSend(fixture.store);
    const [a = -1, b = -1, c = -1] = send.events.map(({ seq }) => seq);
    const results = [RESULTS.dead(b), RESULTS.again(c), RESULTS.done(a)];
    expect(await fixture.store.settleSend(sendSettlements.settled(send, results))).toBe("settled");
    expect(await outboxOf(fixture.store)).toEqual([
      {
        ...waitingView("a", { seq: a, attempts: 1 }),
        state: "done",
        settledAt: isoTime(T + 5),
        remoteId: `cev_${a}`,
      },
      {
        ...waitingView("b", { seq: b, attempts: 1 }),
        state: "dead",
        settledAt: isoTime(T + 5),
        reason: "refused",
        code: "contact_not_found",
        param: "email",
        message: "There is no such contact.",
      },
      waitingView("c", { seq: c, attempts: 1 }),
    ]);
    expect(await countOutbox(fixture.store)).toEqual({
      pending: 1,
      running: 0,
      retrying: 0,
      dead: 1,
      oldestRecordedAt: isoTime(T),
    });
  });

  test("settleSend with again for all events gives the same members the same key", async () => {
    await recordKeys(fixture.store, "a", "b");
    const first = await takeSend(fixture.store);
    await settleAll(fixture.store, first, "again");
    const second = await takeSend(fixture.store);
    expect([second.key, membersOf(second), second.attempt]).toEqual([first.key, membersOf(first), 1]);
  });

  test("settleSend removes an event that it does not name from a call that has ended", async () => {
    await recordKeys(fixture.store, "a", "b");
    const send = await takeSend(fixture.store);
    await fixture.store.settleSend(sendSettlements.settled(send, [RESULTS.done(send.events[0]?.seq ?? -1)]));
    const views = await outboxOf(fixture.store);
    expect(views.map(({ state, attempts }) => [state, attempts])).toEqual([
      ["done", 1],
      ["pending", 1],
    ]);
    expect(membersOf(await takeSend(fixture.store))).toEqual(["b"]);
  });

  async function giveUp(...keys: string[]): Promise<FrozenSend> {
    await recordKeys(fixture.store, ...keys);
    const send = await takeSend(fixture.store);
    await fixture.store.settleSend(sendSettlements.dead(send));
    return send;
  }

  test.each(["dead", "again", "given up"] as const)(
    "an event that was discarded stays so when the call that was given up ends otherwise (%s)",
    async (to) => {
      await giveUp("a", "b");
      await operate(fixture.store).changeContactEvent("discard", "b");
      await retryOutbox(fixture.store, "a", T);
      const send = await takeSend(fixture.store);
      if (to === "given up") await fixture.store.settleSend(sendSettlements.dead(send));
      else await settleAll(fixture.store, send, to);
      const [, b] = await outboxOf(fixture.store);
      expect(b).toMatchObject({ state: "discarded", message: "discarded", remoteId: null });
    },
  );

  test("a call that was given up still contains its discarded events, which are done once the service has them", async () => {
    const first = await giveUp("a", "b", "c");
    expect(await operate(fixture.store).changeContactEvent("discard", "b")).toBe(1);
    const [a, b] = await outboxOf(fixture.store);
    expect([a?.callEvents, b?.callEvents, a?.call]).toEqual([3, 3, b?.call]);
    await retryOutbox(fixture.store, "a", T);
    const second = await takeSend(fixture.store);
    expect(callOf(second)).toEqual(callOf(first));
    await settleAll(fixture.store, second, "done");
    const views = await outboxOf(fixture.store);
    expect(views.map(({ state, message, call }) => [state, message, call])).toEqual(
      Array.from({ length: 3 }, () => ["done", null, null]),
    );
    expect(views.map(({ remoteId }) => remoteId)).not.toContain(null);
  });
}

/** What a clock showed that was a year ahead. */
const AHEAD = T + 365 * DAY;

export function describeRestartWaits(fixture: Fixture): void {
  const restart = (now = T): Promise<number> => fixture.store.restartWaits({ now, leaseUntil: now + MINUTE });

  test("restartWaits lets the call under way wait as long as intended", async () => {
    await recordKeys(fixture.store, "a");
    const send = await takeSend(fixture.store);
    await fixture.store.settleSend({ ...sendSettlements.pending(send, AHEAD + 7), at: AHEAD });
    expect(await leaseSend(fixture.store)).toEqual({ send: undefined, nextDueAt: AHEAD + 7 });
    expect(await restart()).toBe(1);
    expect(await leaseSend(fixture.store)).toEqual({ send: undefined, nextDueAt: T + 7 });
    expect(await takeSend(fixture.store, { now: T + 7 })).toMatchObject({ send: send.send, attempt: 2 });
  });

  const record = (key: string, occurredAt: number) => fixture.store.record(newRecord(key, { occurredAt }), T);

  test("a contact event of a later time does not hold back others, and is sent at its time", async () => {
    await record("first", T);
    await record("ahead", AHEAD);
    await record("last", T);
    const send = await takeSend(fixture.store);
    expect(membersOf(send)).toEqual(["first", "last"]);
    await settleAll(fixture.store, send, "done");
    expect(await outboxStates(fixture.store)).toEqual({ first: "done", ahead: "pending", last: "done" });
    const early = { now: AHEAD - 1 };
    expect(await leaseSend(fixture.store, early)).toEqual({ send: undefined, nextDueAt: undefined });
    expect((await fixture.store.glance?.({ handlers: [], ...early }))?.contactEvents).not.toBe(true);
    expect(membersOf(await takeSend(fixture.store, { now: AHEAD }))).toEqual(["ahead"]);
  });

  test("more contact events of a later time than a call takes do not hold back others", async () => {
    for (let number = 0; number < 5; number += 1) await record(`ahead ${number}`, AHEAD);
    await record("last", T);
    expect(membersOf(await takeSend(fixture.store, { limit: 2 }))).toEqual(["last"]);
    expect(await countOutbox(fixture.store)).toMatchObject({ pending: 5, running: 1 });
  });
}
