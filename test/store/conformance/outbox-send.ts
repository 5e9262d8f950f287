import { describe, expect, test } from "vitest";
import { BLOCKING_TRIES } from "#pigeonhole/store/queries/outbox-calls.js";
import { DAY, MINUTE, T, TRACE, settlements } from "./new-event.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { acceptLeased } from "./lease-page.js";
import { RESULTS, callOf, membersOf, newRecord, sendSettlements } from "./new-record.js";
import { leaseSend, outboxStates, recordKeys, settleAll, takeSend } from "./outbox-fixture.js";

export function describeOutboxSend(fixture: Fixture): void {
  describe("leaseSend", () => {
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
      await settleAll(fixture.store, again, "done");
      await settleAll(fixture.store, await takeSend(fixture.store, { now: T + 60 }), "done");
      expect(membersOf(await takeSend(fixture.store))).toEqual(["c"]);
    });

    test.each([1, 3])(
      "leaseSend repeats a call of %i events unchanged, whatever the next request says",
      async (count) => {
        await recordKeys(fixture.store, ...["c", "a", "b"].slice(0, count));
        const first = await takeSend(fixture.store);
        let last = first;
        for (let attempt = 2; attempt <= 5; attempt += 1) {
          await recordKeys(fixture.store, `new ${attempt}`);
          const now = T + attempt * DAY;
          // Every other time nobody settles it, and the lease runs out.
          if (attempt % 2 === 0) await fixture.store.settleSend(sendSettlements.pending(last, now));
          const request = { now, leaseUntil: now + MINUTE, limit: 1 };
          last = await takeSend(fixture.store, request);
          expect(callOf(last)).toEqual(callOf(first));
          expect(last.attempt).toBe(attempt);
        }
      },
    );
  });

  describe("after the process died", () => {
    test.for([1, 3])(
      "a call of %i events is repeated unchanged and at once after the process died",
      async (count, { skip }) => {
        if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
        await recordKeys(fixture.store, ...["c", "a", "b"].slice(0, count));
        const first = await takeSend(fixture.store, { leaseUntil: T + DAY });
        const store = await fixture.reopen();
        expect((await leaseSend(store)).send).toBeUndefined();
        await store.recover(T + 1);
        await recordKeys(store, "new");
        const second = await takeSend(store, { now: T + 1, limit: 1 });
        expect(callOf(second)).toEqual(callOf(first));
        expect(second).toMatchObject({ attempt: 2 });
        expect(await settleAll(store, first, "done")).toBe("lost");
        expect(await settleAll(store, second, "done")).toBe("settled");
        expect(membersOf(await takeSend(store))).toEqual(["new"]);
      },
    );
  });
}
