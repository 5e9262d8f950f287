import { describe, expect, test } from "vitest";
import { acceptLeased, idsOf, leasePage } from "./lease-page.js";
import { DAY, MINUTE, settlements, T } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { leaseSend, outboxStates, recordKeys, takeSend } from "./outbox-fixture.js";
import { membersOf, newRecord, sendSettlements } from "./new-record.js";
import { countOutbox, operate } from "../../support/operate.js";

/** What a clock showed that was a year ahead. */
const AHEAD = T + 365 * DAY;

export function describeRestartWaits(fixture: Fixture): void {
  const restart = (now = T): Promise<number> => fixture.store.restartWaits({ now, leaseUntil: now + MINUTE });

  async function dueAt(id: string): Promise<number> {
    return Date.parse((await operate(fixture.store).getEvent(id))?.handlers[0]?.dueAt ?? "");
  }

  /** Work whose run failed at `at` and is to run again after `waitMs`. */
  async function acceptFailed(id: string, at: number, waitMs: number): Promise<void> {
    const lease = await acceptLeased(fixture.store, id);
    await fixture.store.settle({ ...settlements.pending(lease, at + waitMs), at });
  }

  describe("restartWaits, with a clock that was a year ahead", () => {
    test.each([0, 1, 10_000, 12 * 60 * MINUTE])(
      "restartWaits lets a retry wait its %i ms from now on",
      async (waitMs) => {
        await acceptFailed("evt_1", AHEAD, waitMs);
        expect(await restart()).toBe(1);
        expect(await dueAt("evt_1")).toBe(T + waitMs);
        expect(await restart()).toBe(0);
        expect(idsOf(await leasePage(fixture.store, { now: T + waitMs }))).toEqual(["evt_1"]);
      },
    );

    test("restartWaits lets the call under way wait as long as intended", async () => {
      await recordKeys(fixture.store, "a");
      const send = await takeSend(fixture.store);
      await fixture.store.settleSend({ ...sendSettlements.pending(send, AHEAD + 7), at: AHEAD });
      expect(await leaseSend(fixture.store)).toEqual({ send: undefined, nextDueAt: AHEAD + 7 });
      expect(await restart()).toBe(1);
      expect(await leaseSend(fixture.store)).toEqual({ send: undefined, nextDueAt: T + 7 });
      expect(await takeSend(fixture.store, { now: T + 7 })).toMatchObject({ send: send.send, attempt: 2 });
    });
  });

  describe("released work", () => {
    test.each([
      [T - MINUTE, T - MINUTE],
      [AHEAD, T],
    ])("released work that was received at %i is due at %i", async (receivedAt, due) => {
      const lease = await acceptLeased(fixture.store, "evt_1", { receivedAt });
      await fixture.store.release([lease], T);
      expect(await dueAt("evt_1")).toBe(due);
    });

    test("released work does not wait for the time of the clock at its release", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.release([lease], AHEAD);
      expect(await dueAt("evt_1")).toBe(T);
    });
  });

  describe("a contact event that occurred later than now", () => {
    const record = (key: string, occurredAt: number) => fixture.store.record(newRecord(key, { occurredAt }), T);

    test("a contact event of a later time does not hold back others, and is sent at its time", async () => {
      await record("first", T);
      await record("ahead", AHEAD);
      await record("last", T);
      const send = await takeSend(fixture.store);
      expect(membersOf(send)).toEqual(["first", "last"]);
      await fixture.store.settleSend(
        sendSettlements.settled(
          send,
          send.events.map(({ seq }) => ({ seq, to: "done", remoteId: "1", replayed: false })),
        ),
      );
      expect(await outboxStates(fixture.store)).toEqual({ first: "done", ahead: "pending", last: "done" });
      expect(await leaseSend(fixture.store, { now: AHEAD - 1 })).toEqual({ send: undefined, nextDueAt: undefined });
      expect(membersOf(await takeSend(fixture.store, { now: AHEAD }))).toEqual(["ahead"]);
    });

    test("more contact events of a later time than a call takes do not hold back others", async () => {
      for (let number = 0; number < 5; number += 1) await record(`ahead ${number}`, AHEAD);
      await record("last", T);
      expect(membersOf(await takeSend(fixture.store, { limit: 2 }))).toEqual(["last"]);
      expect(await countOutbox(fixture.store)).toMatchObject({ pending: 5, running: 1 });
    });
  });
}
