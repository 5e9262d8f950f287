import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { WorkChoice } from "#pigeonhole/store/inbox-view.js";
import type { NewEvent } from "#pigeonhole/store/store.js";
import { acceptLeased, crash, idsOf, leasePage, statesOf } from "./lease-page.js";
import { DAY, MINUTE, newEvent, settlements, T } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { operate } from "../../support/operate.js";

const LATER = T + 30 * MINUTE;
const NOW = T + MINUTE;

/** Work that waits for its next run is run now. */
export function describeRunNow(fixture: Fixture): void {
  const runAll = async (choice: WorkChoice = {}, now = NOW) => {
    const { events, work } = await operate(fixture.store, now).changeWork("run", choice);
    return { events, work };
  };

  /** An event whose run has failed and is to be repeated. */
  async function acceptFailed(id: string, change: Partial<NewEvent> = {}, dueAt = LATER): Promise<void> {
    await fixture.store.settle(settlements.pending(await acceptLeased(fixture.store, id, change), dueAt));
  }

  const viewOf = async (id: string) => (await operate(fixture.store).getEvent(id))?.handlers[0];

  describe("work that waits for its next run", () => {
    test("it is due at once and keeps its attempts and its error", async () => {
      const { store } = fixture;
      await acceptFailed("evt_1");
      const before = await viewOf("evt_1");
      expect(await leasePage(store, { now: NOW })).toMatchObject({ work: [], nextDueAt: LATER });
      expect(await operate(store, NOW).changeEvent("run", "evt_1")).toEqual({ work: 1, readAgain: 0 });
      expect(await viewOf("evt_1")).toEqual({ ...before, dueAt: isoTime(NOW) });
      const [work] = (await leasePage(store, { now: NOW, leaseUntil: NOW + MINUTE })).work;
      expect(work).toMatchObject({ eventId: "evt_1", attempt: 2, failures: 1, crashes: 0, dueAt: NOW });
    });

    test("the wait after the next failure is not shortened when the clock is set back", async () => {
      const { store } = fixture;
      await acceptFailed("evt_1", {}, T + 3 * DAY);
      await operate(store, T + DAY).changeEvent("run", "evt_1");
      await store.restartWaits({ now: T, leaseUntil: T + MINUTE });
      expect(idsOf(await leasePage(store))).toEqual(["evt_1"]);
    });

    test.each<[WorkChoice, string[]]>([
      [{}, ["a g", "a h", "b h", "c h"]],
      [{ handler: "g" }, ["a g"]],
      [{ handler: "none" }, []],
      [{ type: "email.sent" }, ["b h"]],
      [{ error: "FAILED" }, ["a g", "a h", "b h", "c h"]],
      [{ error: "%" }, []],
      [{ since: T + 10 }, ["b h", "c h"]],
      [{ until: T + 10, handler: "h" }, ["a h"]],
      [{ since: T + 10, until: T + 20, type: "email.sent" }, ["b h"]],
    ])("%j runs %j now", async (choice, chosen) => {
      const { store } = fixture;
      const both = { work: ["g", "h"].map((handler) => ({ handler, leaseUntil: T + MINUTE })) };
      const result = await store.accept(newEvent("a", both));
      for (const lease of result.kind === "stored" ? result.leases : []) {
        await store.settle(settlements.pending(lease, LATER));
      }
      await acceptFailed("b", { type: "email.sent", receivedAt: T + 10 });
      await acceptFailed("c", { receivedAt: T + 20 }, LATER + DAY);
      const all = { events: new Set(chosen.map((piece) => piece.split(" ")[0])).size, work: chosen.length };
      expect(await operate(store, NOW).countWork("run", choice)).toEqual(all);
      expect(await runAll(choice)).toEqual(all);
      const due: string[] = [];
      for (const id of ["a", "b", "c"]) {
        const { handlers = [] } = (await operate(store).getEvent(id)) ?? {};
        for (const { handler, dueAt } of handlers) if (dueAt === isoTime(NOW)) due.push(`${id} ${handler}`);
      }
      expect(due.toSorted()).toEqual(chosen);
    });

    test("more than one page of several handlers runs to the last piece, and crashed work with it", async () => {
      const { store } = fixture;
      for (let index = 0; index < 3; index += 1) await acceptLeased(store, `crashed_${index}`);
      await crash(store);
      const crashed = (await leasePage(store, { now: T + DAY, leaseUntil: T + 2 * DAY })).work;
      for (const lease of crashed) await store.settle(settlements.pending(lease, T + 3 * DAY));
      const count = fixture.kind.page + 10;
      for (let index = 0; index < count; index += 1) {
        await acceptFailed(`evt_${index}`, { work: [{ handler: `g${index % 3}`, leaseUntil: T + MINUTE }] });
        if (index % 2 === 0) await acceptFailed(`h_${index}`);
      }
      const waiting = 3 + count + Math.ceil(count / 2);
      expect(crashed).toHaveLength(3);
      expect(await runAll({ type: "email.sent" })).toEqual({ events: 0, work: 0 });
      expect(await runAll()).toEqual({ events: waiting, work: waiting });
      expect(await runAll()).toEqual({ events: 0, work: 0 });
      expect(await statesOf(store, "h_0")).toEqual({ h: "retrying" });
    });
  });
}
