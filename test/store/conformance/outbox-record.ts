import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { NewOutboxEvent, ComparableOutboxEvent } from "#pigeonhole/store/outbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { describe, expect, test } from "vitest";
import { T, settlements } from "./new-event.js";
import { type Fixture, writing } from "./fixture.js";
import { acceptLeased, statesOf } from "./lease-page.js";
import { outboxOf, recordKeys } from "./outbox-fixture.js";
import { newRecord } from "./new-record.js";

type Records = readonly NewOutboxEvent[];

/** The two ways in which records travel with a done mark. */
const CARRIERS: Record<string, (store: Store<unknown>, lease: Lease, records: Records) => Promise<unknown>> = {
  settle: (store, lease, records) => store.settle({ ...settlements.done(lease), records }),
  commit: (store, lease, records) => store.commit({ ...settlements.done(lease), records }, () => undefined),
};

const bodyAt = (ms: number, name = "a"): string =>
  JSON.stringify({ name, email: "ada@example.com", occurredAt: new Date(ms).toISOString() });

export function describeOutboxRecord(fixture: Fixture): void {
  describe("record", () => {
    test("record refuses another event under a key, and keeps the first one", async () => {
      await recordKeys(fixture.store, "a");
      expect(await fixture.store.record(newRecord("a", { body: newRecord("other").body }), T)).toBe("conflict");
      expect(await outboxOf(fixture.store)).toMatchObject([{ key: "a", body: newRecord("a").body }]);
    });

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
