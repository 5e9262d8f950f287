import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { WaitHolds } from "#pigeonhole/store/work.js";
import { operate } from "../../support/operate.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { acceptLeased, idsOf, leasePage } from "./lease-page.js";
import { bare, DAY, MINUTE, newEvent, settlements, T } from "./new-event.js";

const UNTIL = T + 30 * MINUTE;

/** Runs that asked to wait. */
export function describeWaits(fixture: Fixture): void {
  const viewOf = async (id: string) => (await operate(fixture.store).getEvent(id))?.handlers[0];

  /** An event whose run has asked to wait. */
  async function acceptWaiting(id: string, holds: WaitHolds = "handler"): Promise<void> {
    const lease = await acceptLeased(fixture.store, id);
    await fixture.store.settle({ ...settlements.pending(lease, UNTIL), wait: { holds, began: T } });
  }

  describe("work that waits as its handler asked", () => {
    test("it says so, also in lists, and no attempt is spent", async () => {
      const { store } = fixture;
      await acceptWaiting("evt_1", "work");
      const shown = {
        state: "pending",
        dueAt: isoTime(UNTIL),
        error: "it failed",
        waitsFor: "retry_after",
        attempts: 1,
      };
      expect(await viewOf("evt_1")).toMatchObject(shown);
      expect((await operate(store).listEvents({})).items[0]?.handlers).toMatchObject([shown]);
      const { work } = await leasePage(store, { now: UNTIL, leaseUntil: UNTIL + MINUTE });
      expect(work).toMatchObject([{ attempt: 2, failures: 0, crashes: 0, waitBegan: T }]);
      await store.settle(settlements.pending(bare(work[0] ?? expect.unreachable()), UNTIL));
      expect(await viewOf("evt_1")).not.toHaveProperty("waitsFor", "retry_after");
      expect((await leasePage(store, { now: UNTIL })).work).toMatchObject([{ failures: 1, waitBegan: T }]);
    });

    test("a person runs what is listed as retrying, or as pending, and not the other", async () => {
      await acceptWaiting("waits", "work");
      const lease = await acceptLeased(fixture.store, "failed");
      await fixture.store.settle(settlements.pending(lease, UNTIL));
      const inbox = operate(fixture.store, T + MINUTE);
      expect(await inbox.changeWork("run", { state: "retrying" })).toMatchObject({ work: 1 });
      expect(idsOf(await leasePage(fixture.store, { now: T + MINUTE }))).toEqual(["failed"]);
      expect(await inbox.changeWork("run", { state: "pending" })).toMatchObject({ work: 1 });
      expect(idsOf(await leasePage(fixture.store, { now: T + MINUTE }))).toEqual(["waits"]);
    });

    test("a process that dies in a later run is counted as ever", async () => {
      const { store } = fixture;
      await acceptWaiting("evt_1", "work");
      await leasePage(store, { now: UNTIL, leaseUntil: UNTIL + 1 });
      await store.recover(UNTIL + DAY);
      expect((await leasePage(store, { now: UNTIL + DAY })).work).toMatchObject([{ failures: 0, crashes: 1 }]);
    });

    test("after a retry by a person, its waits count from the start", async () => {
      const { store } = fixture;
      await acceptWaiting("evt_1", "work");
      const { work } = await leasePage(store, { now: UNTIL });
      await store.settle(settlements.dead(bare(work[0] ?? expect.unreachable())));
      await operate(store, UNTIL).changeEvent("retry", "evt_1");
      const [again] = (await leasePage(store, { now: UNTIL })).work;
      expect(again).toMatchObject({ attempt: 1, failures: 0 });
      expect(again?.waitBegan).toBeUndefined();
    });
  });

  describe("a wait that holds its handler", () => {
    test("keeps all work of that handler in the store until it ends", async () => {
      const { store } = fixture;
      await acceptWaiting("evt_1");
      await store.accept(newEvent("evt_2", { work: [{ handler: "h" }, { handler: "i" }] }));
      expect(await leasePage(store, { now: UNTIL - 1 })).toEqual({ work: [], nextDueAt: UNTIL, heldUntil: UNTIL });
      expect(idsOf(await leasePage(store, { handler: "i" }))).toEqual(["evt_2"]);
      expect((await operate(store).listEvents({})).items[0]?.handlers).toMatchObject([
        { handler: "h", state: "pending", attempts: 0, waitsFor: "retry_after", dueAt: isoTime(UNTIL) },
        { handler: "i", state: "running", waitsFor: null, dueAt: null },
      ]);
      const page = await leasePage(store, { now: UNTIL });
      expect(idsOf(page)).toEqual(["evt_2", "evt_1"]);
      expect(page).not.toHaveProperty("heldUntil");
    });

    test("one that holds only its work does not", async () => {
      await acceptWaiting("evt_1", "work");
      await fixture.store.accept(newEvent("evt_2"));
      expect(await viewOf("evt_2")).toMatchObject({ waitsFor: null, dueAt: isoTime(T) });
      expect(idsOf(await leasePage(fixture.store))).toEqual(["evt_2"]);
    });

    test("ends when a person runs its work", async () => {
      await acceptWaiting("evt_1");
      await operate(fixture.store, T + MINUTE).changeEvent("run", "evt_1");
      expect(idsOf(await leasePage(fixture.store, { now: T + MINUTE }))).toEqual(["evt_1"]);
    });

    test("outlives its process", async (context) => {
      if (!fixture.kind.outlives) context.skip(ENDS_WITH_STORE);
      await acceptWaiting("evt_1");
      const store = await fixture.reopen();
      await store.recover(T + MINUTE);
      expect(await leasePage(store, { now: T + MINUTE })).toMatchObject({ work: [], heldUntil: UNTIL });
    });
  });
}
