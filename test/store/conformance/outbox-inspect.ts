import { isoTime } from "#pigeonhole/base/iso-time.js";
import { describe, expect, test } from "vitest";
import type { OutboxQuery } from "#pigeonhole/store/outbox.js";
import { acceptLeased } from "./lease-page.js";
import { expectCode, DAY, NOTHING_TO_PRUNE, settlements, T } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { callOf, membersOf, newRecord, RESULTS, sendSettlements } from "./new-record.js";
import { outboxOf, outboxSnapshot, outboxStates, recordKeys, settleAll, takeSend } from "./outbox-fixture.js";
import { operate, retryOutbox } from "../../support/operate.js";

export function describeOutboxInspect(fixture: Fixture): void {
  /** One event in each state, its key the state's name; the leased one is under way. */
  async function recordOneInEachState() {
    await recordKeys(fixture.store, "done", "dead");
    const send = await takeSend(fixture.store);
    const [done = -1, dead = -1] = send.events.map(({ seq }) => seq);
    await fixture.store.settleSend(sendSettlements.settled(send, [RESULTS.done(done), RESULTS.dead(dead)]));
    await recordKeys(fixture.store, "running", "pending");
    return takeSend(fixture.store, { limit: 1 });
  }

  describe("listOutbox", () => {
    const keysOf = async (query: OutboxQuery) =>
      (await operate(fixture.store).listContactEvents(query)).items.map(({ key }) => key);

    test.each([1, 2, 3, 5, 6, 7, 500])(
      "listOutbox in pages of %i gives each event once, even if more are recorded",
      async (limit) => {
        const keys = Array.from({ length: 6 }, (_, index) => `key_${index}`);
        await recordKeys(fixture.store, ...keys);
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page = await operate(fixture.store).listContactEvents({
            limit,
            ...(cursor !== undefined && { cursor }),
          });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          seen.push(...page.items.map(({ key }) => key));
          cursor = page.nextCursor;
          await recordKeys(fixture.store, `late_${seen.length}`);
        } while (cursor !== null);
        expect(seen).toEqual(keys.toReversed());
      },
    );

    test.each(["again", "constructor", "", null])("listOutbox refuses the unknown state %j", async (state) => {
      await expect(operate(fixture.store).listContactEvents({ state: state as "done" })).rejects.toMatchObject({
        code: "invalid_argument",
      });
    });

    test.each([1, 2, 3, 4, 500])(
      "listOutbox in pages of %i lists pending events that came back from a call after new ones",
      async (limit) => {
        await recordKeys(fixture.store, "a", "b", "c", "d");
        const first = await takeSend(fixture.store, { limit: 3 });
        const [a = -1, b = -1, c = -1] = first.events.map(({ seq }) => seq);
        const results = [RESULTS.again(a), RESULTS.done(b), RESULTS.again(c)];
        await fixture.store.settleSend(sendSettlements.settled(first, results));
        await recordKeys(fixture.store, "e");
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const query = { state: "pending", limit, ...(cursor !== undefined && { cursor }) } as const;
          const page = await operate(fixture.store).listContactEvents(query);
          seen.push(...page.items.map(({ key }) => key));
          cursor = page.nextCursor;
        } while (cursor !== null);
        expect(seen).toEqual(["e", "d", "c", "a"]);
        expect(membersOf(await takeSend(fixture.store))).toEqual(["a", "c", "d", "e"]);
      },
    );

    test("listOutbox names the inbox event whose handler recorded an event, and lists what was recorded for one", async () => {
      const recordFor = async (eventId: string, ...keys: string[]) => {
        const records = keys.map((key) => ({ key, body: newRecord(key).body, occurredAt: T }));
        await fixture.store.settle({ ...settlements.done(await acceptLeased(fixture.store, eventId)), records });
      };
      await recordFor("evt_1", "a", "b");
      await recordFor("evt_2", "c");
      await recordKeys(fixture.store, "d");
      const views = await outboxOf(fixture.store);
      expect(views.map(({ key, inboxEventId }) => [key, inboxEventId])).toEqual([
        ["a", "evt_1"],
        ["b", "evt_1"],
        ["c", "evt_2"],
        ["d", null],
      ]);
      expect(await keysOf({ inboxEventId: "evt_1" })).toEqual(["b", "a"]);
      expect(await keysOf({ inboxEventId: "evt_1", limit: 1 })).toEqual(["b"]);
      expect(await keysOf({ inboxEventId: "evt_2", state: "done" })).toEqual([]);
      expect(await keysOf({ inboxEventId: "evt_9" })).toEqual([]);
    });

    test("listOutbox shows attempts, the last error and the next try of a call", async () => {
      const shown = async () => {
        const [view] = await outboxOf(fixture.store);
        return { state: view?.state, attempts: view?.attempts, error: view?.error, dueAt: view?.dueAt };
      };
      const nothing = { error: null, dueAt: null };
      await recordKeys(fixture.store, "a");
      expect(await shown()).toEqual({ state: "pending", attempts: 0, ...nothing });
      const first = await takeSend(fixture.store);
      expect(await shown()).toEqual({ state: "running", attempts: 1, ...nothing });
      await fixture.store.settleSend(sendSettlements.pending(first, T + 50));
      expect(await shown()).toEqual({ state: "retrying", attempts: 1, error: "no answer", dueAt: isoTime(T + 50) });
      const second = await takeSend(fixture.store, { now: T + 50 });
      expect(await shown()).toEqual({ state: "running", attempts: 2, error: "no answer", dueAt: null });
      await fixture.store.settleSend(sendSettlements.dead(second));
      expect(await shown()).toEqual({ state: "dead", attempts: 2, ...nothing });
      await retryOutbox(fixture.store, "a", T + 60);
      expect(await shown()).toMatchObject({ state: "retrying", attempts: 2, dueAt: isoTime(T + 60) });
      await settleAll(fixture.store, await takeSend(fixture.store, { now: T + 60 }), "dead");
      expect(await shown()).toEqual({ state: "dead", attempts: 3, ...nothing });
      await retryOutbox(fixture.store, "a", T + 70);
      expect(await shown()).toEqual({ state: "pending", attempts: 0, ...nothing });
    });

    test("listOutbox keeps the attempts of a call that was given up when its last dead event is discarded", async () => {
      await recordKeys(fixture.store, "a", "b");
      await fixture.store.settleSend(sendSettlements.dead(await takeSend(fixture.store)));
      await operate(fixture.store).changeContactEvent("discard", "a");
      await operate(fixture.store).changeContactEvent("discard", "b");
      expect((await outboxOf(fixture.store)).map(({ attempts }) => attempts)).toEqual([1, 1]);
    });

    test("listOutbox has 50 events in a page by default", async () => {
      await recordKeys(fixture.store, ...Array.from({ length: 51 }, (_, index) => `key_${index}`));
      expect(await keysOf({})).toHaveLength(50);
    });

    test.each([{ limit: 0 }, { limit: 501 }, { limit: 1.5 }, { limit: Number.NaN }, { cursor: "x" }, { cursor: "" }])(
      "listOutbox refuses the filter %j",
      async (query) => {
        await expectCode(
          operate(fixture.store).listContactEvents(query),
          "limit" in query ? "invalid_option" : "invalid_argument",
        );
      },
    );
  });

  describe("retryOutbox", () => {
    test.each(["pending", "running", "done", "nobody's"])(
      "retryOutbox changes nothing for a key that is %s",
      async (key) => {
        await recordOneInEachState();
        const before = await outboxSnapshot(fixture.store);
        expect(await retryOutbox(fixture.store, key, T)).toBe(false);
        expect(await outboxSnapshot(fixture.store)).toEqual(before);
      },
    );
  });

  describe("retryOutbox of an event whose call waits", () => {
    test("retryOutbox makes calls before the chosen one due as well, since it goes out after them", async () => {
      await recordKeys(fixture.store, "a");
      const first = await takeSend(fixture.store);
      await fixture.store.settleSend(sendSettlements.dead(first));
      await recordKeys(fixture.store, "b");
      const second = await takeSend(fixture.store);
      await fixture.store.settleSend(sendSettlements.pending(second, T + 500));
      await retryOutbox(fixture.store, "a", T + 6);
      await fixture.store.settleSend(sendSettlements.pending(await takeSend(fixture.store, { now: T + 6 }), T + 900));
      expect(await retryOutbox(fixture.store, "b", T + 9)).toBe(true);
      const sent = [];
      for (const expected of [first, second]) {
        const send = await takeSend(fixture.store, { now: T + 9 });
        expect(callOf(send)).toEqual(callOf(expected));
        await settleAll(fixture.store, send, "done");
        sent.push(...membersOf(send));
      }
      expect(sent).toEqual(["a", "b"]);
    });

    test("retryOutbox leaves later calls that wait", async () => {
      await recordKeys(fixture.store, "a");
      await fixture.store.settleSend(sendSettlements.dead(await takeSend(fixture.store)));
      await recordKeys(fixture.store, "b");
      await fixture.store.settleSend(sendSettlements.pending(await takeSend(fixture.store), T + 500));
      await retryOutbox(fixture.store, "a", T + 6);
      await fixture.store.settleSend(sendSettlements.pending(await takeSend(fixture.store, { now: T + 6 }), T + 900));
      expect(await retryOutbox(fixture.store, "a", T + 9)).toBe(true);
      expect((await outboxOf(fixture.store)).map(({ key, dueAt }) => [key, dueAt])).toEqual([
        ["a", isoTime(T + 9)],
        ["b", isoTime(T + 500)],
      ]);
    });
  });

  describe("pruning the outbox", () => {
    const prune = async (before: number, batch = 100): Promise<void> => {
      while ((await fixture.store.prune({ ...NOTHING_TO_PRUNE, idsBefore: before, sentBefore: before, batch })) > 0);
    };

    test.each([1, 100])(
      "pruning the outbox removes what is settled and old, by %i at a time, and nothing else",
      async (batch) => {
        await recordOneInEachState();
        await operate(fixture.store).changeContactEvent("discard", "dead");
        await recordKeys(fixture.store, "discarded");
        await operate(fixture.store).changeContactEvent("discard", "discarded");
        await prune(T, batch);
        expect(Object.keys(await outboxStates(fixture.store))).toHaveLength(5);
        await prune(T + 1, batch);
        expect(await outboxStates(fixture.store)).toEqual({ running: "running", pending: "pending" });
      },
    );

    test("pruning the whole outbox leaves no gap in later calls, even for the next process", async () => {
      await recordKeys(fixture.store, "a", "b", "c");
      await settleAll(fixture.store, await takeSend(fixture.store, { limit: 2 }), "done");
      await operate(fixture.store).changeContactEvent("discard", "c");
      await prune(T + DAY);
      const store = fixture.kind.outlives ? await fixture.reopen() : fixture.store;
      await prune(T + DAY);
      await recordKeys(store, "d", "e");
      await operate(store).changeContactEvent("discard", "d");
      await prune(T + DAY);
      await recordKeys(store, "f");
      expect(membersOf(await takeSend(store))).toEqual(["e", "f"]);
    });

    test("pruning the outbox lets an event that comes again be handled again, next to what its first run recorded", async () => {
      const handle = async () => {
        const lease = await acceptLeased(fixture.store, "evt_1");
        await fixture.store.settle({ ...settlements.done(lease), records: [newRecord("a")] });
      };
      await handle();
      await prune(T + DAY);
      await handle();
      const send = await takeSend(fixture.store);
      expect(membersOf(send)).toEqual(["a", "a"]);
      const [first = -1, second = -1] = send.events.map(({ seq }) => seq);
      await fixture.store.settleSend(sendSettlements.settled(send, [RESULTS.done(first), RESULTS.dead(second)]));
      expect(await retryOutbox(fixture.store, "a", T)).toBe(true);
      expect((await takeSend(fixture.store)).events.map(({ seq }) => seq)).toEqual([second]);
    });
  });
}
