import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { FrozenSend, SendSettlement } from "#pigeonhole/store/outbox.js";
import { describe, expect, test } from "vitest";
import { DAY, MINUTE, NOTHING_TO_PRUNE, T } from "./new-event.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { callOf, membersOf, RESULTS, sendSettlements, waitingView } from "./new-record.js";
import {
  leaseSend,
  outboxOf,
  outboxSnapshot,
  outboxStates,
  recordKeys,
  settleAll,
  takeSend,
} from "./outbox-fixture.js";
import { countOutbox, operate, retryOutbox } from "../../support/operate.js";

export function describeOutboxSettle(fixture: Fixture): void {
  describe("settleSend", () => {
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
        oldestRecordedAt: T,
      });
    });

    test("settleSend with again puts events into another call, in their order and before later ones", async () => {
      await recordKeys(fixture.store, "a", "b", "c");
      const first = await takeSend(fixture.store);
      await recordKeys(fixture.store, "d");
      const [a = -1, b = -1, c = -1] = first.events.map(({ seq }) => seq);
      const results = [RESULTS.again(c), RESULTS.dead(b), RESULTS.again(a)];
      await fixture.store.settleSend(sendSettlements.settled(first, results));
      const second = await takeSend(fixture.store);
      expect(membersOf(second)).toEqual(["a", "c", "d"]);
      expect(second).toMatchObject({ kind: "batch", attempt: 1 });
      expect(second.key).not.toBe(first.key);
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
      expect(await outboxStates(fixture.store)).toEqual({ a: "done", b: "pending" });
      expect(membersOf(await takeSend(fixture.store))).toEqual(["b"]);
    });

    test("settleSend does not change events of another call", async () => {
      await recordKeys(fixture.store, "a", "b");
      const first = await takeSend(fixture.store, { limit: 1 });
      const [, b] = await outboxOf(fixture.store);
      const results = [first.events[0]?.seq ?? -1, b?.seq ?? -1].map((seq) => RESULTS.done(seq));
      expect(await fixture.store.settleSend(sendSettlements.settled(first, results))).toBe("settled");
      expect(await outboxStates(fixture.store)).toEqual({ a: "done", b: "pending" });
    });

    test("settleSend to dead ends all events with the reason, and later events are sent", async () => {
      await recordKeys(fixture.store, "a", "b");
      const send = await takeSend(fixture.store);
      await recordKeys(fixture.store, "c");
      const refused = { reason: "refused", code: "teapot", param: "pot", message: "It is one." } as const;
      expect(await fixture.store.settleSend({ ...sendSettlements.dead(send), ...refused })).toBe("settled");
      expect((await outboxOf(fixture.store)).slice(0, 2)).toMatchObject([
        { key: "a", state: "dead", settledAt: isoTime(T + 5), ...refused },
        { key: "b", state: "dead", settledAt: isoTime(T + 5), ...refused },
      ]);
      expect(membersOf(await takeSend(fixture.store))).toEqual(["c"]);
    });

    const targets: Record<SendSettlement["to"], (send: FrozenSend) => SendSettlement> = {
      settled: (send) =>
        sendSettlements.settled(
          send,
          send.events.map(({ seq }) => RESULTS.done(seq)),
        ),
      pending: (send) => sendSettlements.pending(send),
      dead: (send) => sendSettlements.dead(send),
    };
    const endings: Record<string, (send: FrozenSend) => Promise<unknown> | undefined> = {
      "that was settled": (send) => settleAll(fixture.store, send, "done"),
      "that was settled for a retry": (send) => fixture.store.settleSend(sendSettlements.pending(send)),
      "that was given up": (send) => fixture.store.settleSend(sendSettlements.dead(send)),
      "that ran out and was recovered": () => fixture.store.recover(T + DAY),
      "that ran out and another process has": () => takeSend(fixture.store, { now: T + MINUTE, leaseUntil: T + DAY }),
      "that was never given": () => undefined,
    };
    const cases = Object.keys(endings).flatMap((ending) =>
      (Object.keys(targets) as SendSettlement["to"][]).map((to) => [to, ending] as const),
    );
    test.each(cases)("settleSend to %s with a lease %s writes nothing", async (to, ending) => {
      await recordKeys(fixture.store, "a", "b");
      const send = await takeSend(fixture.store);
      await endings[ending]?.(send);
      const stale = ending === "that was never given" ? { ...send, token: send.token + 1 } : send;
      const before = await outboxSnapshot(fixture.store);
      expect(await fixture.store.settleSend(targets[to](stale))).toBe("lost");
      expect(await outboxSnapshot(fixture.store)).toEqual(before);
    });

    test("settleSend is visible to the next process", async ({ skip }) => {
      if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
      await recordKeys(fixture.store, "a");
      await settleAll(fixture.store, await takeSend(fixture.store), "done");
      const store = await fixture.reopen();
      await store.recover(T);
      expect(await outboxStates(store)).toEqual({ a: "done" });
      expect(await leaseSend(store)).toEqual({ send: undefined, nextDueAt: undefined });
    });
  });

  describe("a call that was given up", () => {
    async function giveUp(...keys: string[]): Promise<FrozenSend> {
      await recordKeys(fixture.store, ...keys);
      const send = await takeSend(fixture.store);
      await fixture.store.settleSend(sendSettlements.dead(send));
      return send;
    }

    test("a call that was given up is repeated unchanged when one of its events is retried", async () => {
      const first = await giveUp("c", "a", "b");
      await recordKeys(fixture.store, "new");
      expect(await retryOutbox(fixture.store, "a", T + 9)).toBe(true);
      expect(await outboxStates(fixture.store)).toEqual({
        c: "retrying",
        a: "retrying",
        b: "retrying",
        new: "pending",
      });
      expect((await outboxOf(fixture.store))[0]).toMatchObject({ settledAt: null, reason: null });
      expect(await leaseSend(fixture.store, { now: T + 8 })).toEqual({ send: undefined, nextDueAt: T + 9 });
      const second = await takeSend(fixture.store, { now: T + 9 });
      expect(callOf(second)).toEqual(callOf(first));
      expect(await retryOutbox(fixture.store, "b", T + 9)).toBe(false);
      expect(await settleAll(fixture.store, second, "done")).toBe("settled");
      expect(membersOf(await takeSend(fixture.store))).toEqual(["new"]);
    });

    test("a call that was given up has no reason left after it is retried", async () => {
      await recordKeys(fixture.store, "a", "b");
      const fault = { reason: "refused", code: "teapot", param: "pot" } as const;
      await fixture.store.settleSend({ ...sendSettlements.dead(await takeSend(fixture.store)), ...fault });
      await retryOutbox(fixture.store, "a", T);
      await settleAll(fixture.store, await takeSend(fixture.store), "done");
      for (const view of await outboxOf(fixture.store)) {
        const { reason, code, param, message } = view;
        expect([view.state, reason, code, param, message]).toEqual(["done", null, null, null, null]);
      }
    });

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

    test.each(["dead", "again"] as const)(
      "an event that was discarded stays so when the call that was given up ends otherwise (%s)",
      async (to) => {
        await giveUp("a", "b");
        await operate(fixture.store).changeContactEvent("discard", "b");
        await retryOutbox(fixture.store, "a", T);
        await settleAll(fixture.store, await takeSend(fixture.store), to);
        const [, b] = await outboxOf(fixture.store);
        expect(b).toMatchObject({ state: "discarded", message: "discarded", remoteId: null, callEvents: null });
      },
    );

    test("a call that was given up keeps its members even if a discarded one is old enough to be pruned", async () => {
      const first = await giveUp("a", "b", "c");
      await operate(fixture.store).changeContactEvent("discard", "a");
      while ((await fixture.store.prune({ ...NOTHING_TO_PRUNE, sentBefore: T + DAY })) > 0);
      await retryOutbox(fixture.store, "b", T);
      expect(callOf(await takeSend(fixture.store))).toEqual(callOf(first));
    });

    test.each(["done", "again", "dead"] as const)(
      "a call that was given up and ended later (%s) leaves nothing in later calls",
      async (to) => {
        await giveUp("a", "b");
        await operate(fixture.store).changeContactEvent("discard", "b");
        await retryOutbox(fixture.store, "a", T);
        await settleAll(fixture.store, await takeSend(fixture.store), to);
        await recordKeys(fixture.store, "c");
        const next = await takeSend(fixture.store);
        expect(membersOf(next)).toEqual(to === "again" ? ["a", "c"] : ["c"]);
        await fixture.store.settleSend(sendSettlements.pending(next, T));
        expect(callOf(await takeSend(fixture.store))).toEqual(callOf(next));
      },
    );

    test("a call that was given up is deleted when all its events are discarded and old enough", async () => {
      await giveUp("a", "b");
      await operate(fixture.store).changeContactEvent("discard", "a");
      await operate(fixture.store).changeContactEvent("discard", "b");
      await recordKeys(fixture.store, "c");
      const next = await takeSend(fixture.store);
      await fixture.store.settleSend(sendSettlements.pending(next, T));
      expect(membersOf(await takeSend(fixture.store))).toEqual(["c"]);
      while ((await fixture.store.prune({ ...NOTHING_TO_PRUNE, sentBefore: T + DAY })) > 0);
      expect(await outboxStates(fixture.store)).toEqual({ c: "running" });
    });
  });
}
