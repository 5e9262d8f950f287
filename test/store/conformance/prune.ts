import { describe, expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { DAY, NOTHING_TO_PRUNE, T, newEvent, settlements } from "./new-event.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { acceptAll, acceptLeased } from "./lease-page.js";
import { countWork, operate } from "../../support/operate.js";

export function describePrune(fixture: Fixture): void {
  async function ids(): Promise<string[]> {
    return (await operate(fixture.store).listEvents({ limit: 500 })).items.map(({ id }) => id).toReversed();
  }

  async function idsWithBody(): Promise<string[]> {
    const events = await Promise.all((await ids()).map((id) => operate(fixture.store).getEvent(id)));
    return events.flatMap((event) => (event === undefined || event.body === null ? [] : [event.id]));
  }

  /** Prunes until the round is over; returns what the calls returned. */
  async function pruneRound(limits: Partial<typeof NOTHING_TO_PRUNE>): Promise<number[]> {
    const returned: number[] = [];
    do returned.push(await fixture.store.prune({ ...NOTHING_TO_PRUNE, ...limits }));
    while (returned.at(-1) !== 0 && returned.length < 1_000);
    return returned;
  }

  const settled = { work: [] };

  describe("prune", () => {
    test.each([
      [T - 1, ["a", "b"]],
      [T, ["a", "b"]],
      [T + 1, ["b"]],
      [T + 2, []],
    ])("prune with idsBefore %i keeps, of events received at T and T + 1, %j", async (idsBefore, left) => {
      await fixture.store.accept(newEvent("a", { ...settled, receivedAt: T }));
      await fixture.store.accept(newEvent("b", { ...settled, receivedAt: T + 1 }));
      await pruneRound({ idsBefore });
      expect(await ids()).toEqual(left);
      expect(await operate(fixture.store).getEvent("a")).toEqual(left.includes("a") ? expect.anything() : undefined);
    });

    test.each([
      [T + 5, ["behind"]],
      [T + 6, []],
    ])(
      "prune with idsBefore %i keeps, of an event signed at T + 5 and received at T and one after it, %j",
      async (idsBefore, left) => {
        await fixture.store.accept(newEvent("behind", { ...settled, receivedAt: T, signedAt: T + 5 }));
        await fixture.store.accept(newEvent("right", { ...settled, receivedAt: T + 1 }));
        await pruneRound({ idsBefore });
        expect(await ids()).toEqual(left);
      },
    );

    test.each([
      [T, ["a", "b"]],
      [T + 1, ["b"]],
      [T + 2, []],
    ])("prune with bodiesBefore %i keeps the bodies of: %j", async (bodiesBefore, left) => {
      await fixture.store.accept(newEvent("a", { ...settled, receivedAt: T }));
      await fixture.store.accept(newEvent("b", { ...settled, receivedAt: T + 1 }));
      await pruneRound({ bodiesBefore });
      expect(await idsWithBody()).toEqual(left);
      expect(await ids()).toEqual(["a", "b"]);
    });

    test("prune keeps the id and the digest after it deletes a body, so that duplicates and other bytes are recognised", async () => {
      await fixture.store.accept(newEvent("a", settled));
      await pruneRound({ bodiesBefore: T + DAY });
      expect(await fixture.store.accept(newEvent("a"))).toEqual({ kind: "duplicate", otherBytes: false });
      const changed = newEvent("a", { body: Buffer.from('{"id":"b"}') });
      expect(await fixture.store.accept(changed)).toEqual({ kind: "duplicate", otherBytes: true });
      expect(await idsWithBody()).toEqual([]);
    });

    test("prune drops the steps of an event with its body", async () => {
      const { store } = fixture;
      const lease = await acceptLeased(store, "done");
      await store.saveStep(lease, "a", "1", T);
      await store.settle({ ...settlements.done(lease), dropSteps: true });
      const steps = async () => (await operate(store).getEvent("done"))?.handlers.map((view) => view.steps);
      expect(await steps()).toEqual([[{ name: "a", at: isoTime(T) }]]);
      await pruneRound({ bodiesBefore: T + DAY });
      expect(await steps()).toEqual([[]]);
    });

    test("prune deletes events whose work is done or discarded, with their marks and steps", async () => {
      const { store } = fixture;
      const lease = await acceptLeased(store, "done");
      await store.saveStep(lease, "a", "1", T);
      await store.settle(settlements.done(lease));
      await acceptAll(store, ["discarded"]);
      await operate(store).changeEvent("discard", "discarded");
      await pruneRound({ idsBefore: T + DAY });
      expect(await ids()).toEqual([]);
      expect(await store.loadSteps(lease)).toEqual({});
      expect(await countWork(store, T)).toMatchObject({ done: 1 });
      // A number that is given again must not come with the marks of the event before.
      await acceptAll(store, ["new"]);
      expect((await operate(store).getEvent("new"))?.handlers).toMatchObject([{ handler: "h", state: "pending" }]);
    });

    test.each([1, 2, 3, 5, 10])("prune deletes at most %i events at a time", async (batch) => {
      const all = Array.from({ length: 7 }, (_, index) => `evt_${index}`);
      await acceptAll(fixture.store, all, settled);
      let left = all;
      for (;;) {
        const returned = await fixture.store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY, batch });
        const now = await ids();
        expect(left.length - now.length).toBe(Math.min(batch, left.length));
        expect(now).toEqual(all.slice(all.length - now.length));
        expect(returned > 0).toBe(left.length > 0);
        if (returned === 0) break;
        left = now;
      }
    });

    test("prune deletes bodies and events in one round, passing those that stay", async () => {
      for (const [index, id] of ["a", "stays", "b", "c", "stays too", "d"].entries()) {
        await fixture.store.accept(
          newEvent(id, { receivedAt: T + index, work: id.startsWith("stays") ? [{ handler: "h" }] : [] }),
        );
      }
      await pruneRound({ idsBefore: T + 3, bodiesBefore: T + 5, batch: 1 });
      expect(await ids()).toEqual(["stays", "c", "stays too", "d"]);
      expect(await idsWithBody()).toEqual(["stays", "stays too", "d"]);
    });

    test("prune reads each event that stays a fixed number of times in a round", async () => {
      await acceptAll(
        fixture.store,
        Array.from({ length: 20 }, (_, index) => `stays ${index}`),
      );
      await acceptAll(
        fixture.store,
        Array.from({ length: 20 }, (_, index) => `body ${index}`),
        settled,
      );
      const returned = await pruneRound({ idsBefore: T, bodiesBefore: T + DAY, batch: 1 });
      expect(returned.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(20 + 20 + 20);

      const next = await pruneRound({ idsBefore: T + DAY, bodiesBefore: T + DAY, batch: 1 });
      expect(next.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(20 + 2 * 20 + 20);
      expect(await ids()).toHaveLength(20);
    });

    test("prune starts again after a round, for work that was settled since", async () => {
      await acceptAll(fixture.store, ["a", "b", "c"]);
      await pruneRound({ idsBefore: T + DAY, bodiesBefore: T + DAY });
      expect(await ids()).toEqual(["a", "b", "c"]);
      await operate(fixture.store).changeEvent("discard", "a");
      await operate(fixture.store).changeEvent("discard", "c");
      await pruneRound({ idsBefore: T + DAY, bodiesBefore: T + DAY });
      expect(await ids()).toEqual(["b"]);
      await operate(fixture.store).changeEvent("discard", "b");
      await pruneRound({ bodiesBefore: T + DAY });
      expect(await idsWithBody()).toEqual([]);
      expect(await ids()).toEqual(["b"]);
    });

    test("prune keeps and passes what was received later than now, with a clock that was ahead", async () => {
      for (const [id, receivedAt] of [
        ["a", T],
        ["ahead", T + 400 * DAY],
        ["b", T + 1],
      ] as const) {
        await fixture.store.accept(newEvent(id, { ...settled, receivedAt }));
      }
      await pruneRound({ now: T + DAY, idsBefore: T + DAY, bodiesBefore: T + DAY, batch: 1 });
      expect(await ids()).toEqual(["ahead"]);
      expect(await idsWithBody()).toEqual(["ahead"]);
    });

    test("prune of an empty store ends at once", async () => {
      expect(await pruneRound({ idsBefore: T + DAY, bodiesBefore: T + DAY })).toEqual([0]);
    });
  });

  describe("noteTimes", () => {
    test("noteTimes returns nothing at first, and then the times that it was given last", async () => {
      const { store } = fixture;
      expect(await store.noteTimes({})).toEqual({ clock: undefined, delivery: undefined, api: undefined });
      expect(await store.noteTimes({ clock: T, delivery: T - 1 })).toEqual({
        clock: T,
        delivery: T - 1,
        api: undefined,
      });
      expect(await store.noteTimes({ clock: T - 5, api: 0 })).toEqual({ clock: T - 5, delivery: T - 1, api: 0 });
    });

    test("noteTimes keeps the times for the next process", async ({ skip }) => {
      if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
      await fixture.store.noteTimes({ clock: T, delivery: T + 1, api: T + 2 });
      const store = await fixture.reopen();
      expect(await store.noteTimes({})).toEqual({ clock: T, delivery: T + 1, api: T + 2 });
    });

    test("noteTimes uses the arrival of the newest event if a file has no time", async () => {
      await fixture.store.accept(newEvent("a", { receivedAt: T }));
      await fixture.store.accept(newEvent("b", { receivedAt: T + 7 }));
      expect(await fixture.store.noteTimes({})).toMatchObject({ clock: T + 7, delivery: undefined });
    });
  });
}
