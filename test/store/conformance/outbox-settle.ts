import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { FrozenSend } from "#pigeonhole/store/outbox.js";
import { describe, expect, test } from "vitest";
import { DAY, NOTHING_TO_PRUNE, T } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { callOf, membersOf, RESULTS, sendSettlements, waitingView } from "./new-record.js";
import { outboxOf, outboxStates, recordKeys, settleAll, takeSend } from "./outbox-fixture.js";
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
        oldestRecordedAt: isoTime(T),
      });
    });

    test("an event that was refused and is discarded keeps nothing of the refusal", async () => {
      await recordKeys(fixture.store, "a");
      await settleAll(fixture.store, await takeSend(fixture.store), "dead");
      await operate(fixture.store).changeContactEvent("discard", "a");
      const [a] = await outboxOf(fixture.store);
      expect(a).toMatchObject({ state: "discarded", reason: null, code: null, param: null, message: "discarded" });
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
  });

  describe("a call that was given up", () => {
    async function giveUp(...keys: string[]): Promise<FrozenSend> {
      await recordKeys(fixture.store, ...keys);
      const send = await takeSend(fixture.store);
      await fixture.store.settleSend(sendSettlements.dead(send));
      return send;
    }

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
