import { describe, expect, test } from "vitest";
import type { EventQuery } from "#pigeonhole/store/inbox-view.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { countWork, operate } from "../../support/operate.js";
import type { Fixture } from "./fixture.js";
import { acceptLeased, leasePage, statesOf } from "./lease-page.js";
import { bare, DAY, MINUTE, newEvent, NOTHING_TO_PRUNE, settlements, T } from "./new-event.js";

/** Work of which only the newest of a key counts. */
export function describeNewest(fixture: Fixture): void {
  /** Events are numbered by their time. */
  const ofKey = (createdAt: number, key = "k") => ({ key, createdAt });
  const begin = (lease: Lease, createdAt: number, key = "k") =>
    fixture.store.beginNewest(lease, ofKey(createdAt, key), T + 7);
  const acceptAt = (id: string, createdAt: number, key = "k"): Promise<Lease> =>
    acceptLeased(fixture.store, id, {
      work: [{ handler: "h", leaseUntil: T + MINUTE, newest: ofKey(createdAt, key) }],
    });
  const waitAt = (id: string, createdAt: number) =>
    fixture.store.accept(newEvent(id, { work: [{ handler: "h", newest: ofKey(createdAt) }] }));
  const discard = (id: string) => operate(fixture.store).changeEvent("discard", id);
  const viewOf = async (id: string) => (await operate(fixture.store).getEvent(id))?.handlers[0];

  const SUPERSEDED = { state: "discarded", reason: "superseded" };

  describe("work that counts only as the newest of its key", () => {
    test("what begins ends as superseded by the newest, and says by which", async () => {
      const lease = await acceptAt("older", 1);
      await waitAt("newest", 3);
      await waitAt("newer", 2);
      expect(await begin(lease, 1)).toBe("superseded");
      const shown = { ...SUPERSEDED, error: "newest is newer", attempts: 0, dueAt: null, failed: null };
      expect(await viewOf("older")).toMatchObject(shown);
      expect(await viewOf("newer")).toMatchObject(shown);
      const listed = async (query: EventQuery) => (await operate(fixture.store).listEvents(query)).items.length;
      expect(await listed({ state: "discarded" })).toBe(2);
      expect(await listed({ state: "discarded", error: "Superseded" })).toBe(2);
      expect(await listed({ state: "discarded", error: "newest is", handler: "other" })).toBe(0);
      expect(await listed({ error: "superseded" })).toBe(0);
      expect(await fixture.store.settle(settlements.done(lease))).toBe("lost");
      expect(await countWork(fixture.store, T)).toMatchObject({ pending: 1, running: 0, done: 0 });
      const { work } = await leasePage(fixture.store);
      expect(work.map(({ eventId }) => eventId)).toEqual(["newest"]);
      expect(await begin(bare(work[0] ?? expect.unreachable()), 3)).toBe("newest");
    });

    test.each<[string, (newer: Lease) => Promise<unknown>, "newest" | "superseded"]>([
      ["runs", (newer) => begin(newer, 2), "superseded"],
      ["has run", (newer) => fixture.store.settle(settlements.done(newer)), "superseded"],
      ["has failed and runs again", (newer) => fixture.store.settle(settlements.pending(newer)), "superseded"],
      ["is dead", (newer) => fixture.store.settle(settlements.dead(newer)), "superseded"],
      ["is parked", (newer) => fixture.store.settle(settlements.parked(newer)), "superseded"],
      [
        "was discarded after a run",
        async (newer) => [await fixture.store.settle(settlements.dead(newer)), await discard("newer")],
        "superseded",
      ],
      [
        "was discarded before any run",
        async (newer) => [await fixture.store.release([newer], T), await discard("newer")],
        "newest",
      ],
      [
        "was dropped by retention",
        async (newer) => [
          await fixture.store.settle(settlements.done(newer)),
          await fixture.store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY }),
        ],
        "newest",
      ],
      ["has another key", (newer) => begin(newer, 2, "other"), "newest"],
    ])("an event that is late where the newer one %s", async (_, end, result) => {
      await end(await acceptAt("newer", 2));
      expect(await begin(await acceptAt("late", 1), 1)).toBe(result);
    });

    test("the newest ends what waits, is dead or parked of older ones, and neither runs nor other keys", async () => {
      const { store } = fixture;
      for (const [id, end] of [
        ["waits", settlements.pending],
        ["dead", settlements.dead],
        ["parked", settlements.parked],
      ] as const)
        await store.settle(end(await acceptAt(id, 1)));
      const running = await acceptAt("runs", 1);
      await waitAt("newer", 9);
      await acceptAt("other key", 1, "other");
      await store.accept(newEvent("no key"));
      expect(await begin(await acceptAt("newest", 5), 5)).toBe("superseded");
      for (const id of ["waits", "dead", "parked", "newest"]) expect(await viewOf(id)).toMatchObject(SUPERSEDED);
      for (const id of ["runs", "other key"]) expect(await statesOf(store, id)).toEqual({ h: "running" });
      for (const id of ["newer", "no key"]) expect(await statesOf(store, id)).toEqual({ h: "pending" });
      expect(await store.settle(settlements.pending(running))).toBe("settled");
      const again = (await leasePage(store, { now: T + DAY })).work.find(({ eventId }) => eventId === "runs");
      expect(await begin(bare(again ?? expect.unreachable()), 1)).toBe("superseded");
    });

    test("of much older work, what is left ends when it would begin", async () => {
      await Promise.all(Array.from({ length: 501 }, (_, index) => waitAt(`older ${index}`, 1)));
      expect(await begin(await acceptAt("newest", 2), 2)).toBe("newest");
      expect(await countWork(fixture.store, T)).toMatchObject({ pending: 1, running: 1 });
      const [left] = (await leasePage(fixture.store)).work;
      expect(await begin(bare(left ?? expect.unreachable()), 1)).toBe("superseded");
    });

    test("a key that is known only when it begins counts from then on", async () => {
      const late = await acceptLeased(fixture.store, "keyed late");
      expect(await begin(late, 2)).toBe("newest");
      await fixture.store.settle(settlements.done(late));
      expect(await begin(await acceptAt("older", 1), 1)).toBe("superseded");
    });

    test("where the newest was discarded before it ran, a retry runs only of the newest of those that it ended", async () => {
      const { store } = fixture;
      const [oldest, older] = [await acceptAt("oldest", 1), await acceptAt("older", 2)];
      await waitAt("newest", 3);
      expect([await begin(oldest, 1), await begin(older, 2)]).toEqual(["superseded", "superseded"]);
      await discard("newest");
      const retry = async ({ seq }: Lease, createdAt: number) => {
        await store.replan({ seq, handlers: ["h"], now: T });
        const { work } = await leasePage(store, { limit: 1 });
        return begin(bare(work[0] ?? expect.unreachable()), createdAt);
      };
      expect(await retry(oldest, 1)).toBe("superseded");
      expect(await viewOf("oldest")).toMatchObject({ ...SUPERSEDED, error: "older is newer" });
      expect(await retry(older, 2)).toBe("newest");
    });
  });
}
