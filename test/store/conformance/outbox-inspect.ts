import { isoTime } from "#pigeonhole/base/iso-time.js";
import { expect, test } from "vitest";
import type { OutboxQuery } from "#pigeonhole/store/outbox.js";
import { expectCode, DAY, NOTHING_TO_PRUNE, settlements, T } from "./new-event.js";
import { acceptLeased } from "./lease-page.js";
import { type Fixture } from "./fixture.js";
import { membersOf, newRecord, RESULTS, sendSettlements } from "./new-record.js";
import { outboxOf, recordKeys, settleAll, takeSend } from "./outbox-fixture.js";
import { operate, retryOutbox } from "../../support/operate.js";

export function describeOutboxInspect(fixture: Fixture): void {
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

  const prune = async (before: number, batch = 100): Promise<void> => {
    while ((await fixture.store.prune({ ...NOTHING_TO_PRUNE, idsBefore: before, sentBefore: before, batch })) > 0);
  };

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
}
