import { expect, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { DAY, NOTHING_TO_PRUNE, T, newEvent, settlements } from "./new-event.js";
import { acceptAll, acceptLeased } from "./lease-page.js";
import { type Fixture, ENDS_WITH_STORE } from "./fixture.js";
import { countWork, operate } from "../../support/operate.js";
import { findIds } from "#pigeonhole/store/find-in-inbox.js";

export function describePrune(fixture: Fixture): void {
  async function ids(): Promise<string[]> {
    return (await operate(fixture.store).listEvents({ limit: 500 })).items.map(({ id }) => id).toReversed();
  }

  /** Prunes until the round is over; returns what the calls returned. */
  async function pruneRound(limits: Partial<typeof NOTHING_TO_PRUNE>): Promise<number[]> {
    const returned: number[] = [];
    do returned.push(await fixture.store.prune({ ...NOTHING_TO_PRUNE, ...limits }));
    while (returned.at(-1) !== 0 && returned.length < 1_000);
    return returned;
  }

  const settled = { work: [] };

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
}

export function describeKnownIds(fixture: Fixture): void {
  test("findIds gives those of the ids that are stored, whatever became of their work", async () => {
    const { store } = fixture;
    await acceptAll(store, ["waits", "odd \u0000 ' id", "discarded"]);
    await operate(store).changeEvent("discard", "discarded");
    await store.accept(newEvent("not understood", { work: [], parked: { reason: "not_json", detail: "" } }));
    const found = await findIds(operate(store), {
      source: "",
      ids: ["missing", "waits", "odd \u0000 ' id", "discarded", "not understood", ""],
    });
    expect(found.toSorted()).toEqual(["discarded", "not understood", "odd \u0000 ' id", "waits"]);
    expect(await findIds(operate(store), { source: "", ids: [] })).toEqual([]);
  });

  const prune = (idsBefore: number): Promise<number> => fixture.store.prune({ ...NOTHING_TO_PRUNE, idsBefore });

  test("an inbox that no receiver has used and that has no event knows no ids", async () => {
    expect(await operate(fixture.store).idsKnownSince()).toBeUndefined();
  });

  test("ids are known since the first time of a receiver, also where there is no event", async () => {
    await fixture.store.noteTimes({ clock: T });
    await fixture.store.noteTimes({ clock: T + DAY });
    expect(await operate(fixture.store).idsKnownSince()).toBe(T);
  });

  test.each([
    ["an event that is older than the first noted time", { clock: T, receivedAt: T - 1 }, T - 1],
    ["an event that is newer than the first noted time", { clock: T, receivedAt: T + 1 }, T],
    ["an event and no noted time", { clock: undefined, receivedAt: T + 1 }, T + 1],
  ])("with %s, ids are known since the earlier of them", async (_, { clock, receivedAt }, since) => {
    await fixture.store.noteTimes({ clock });
    await fixture.store.accept(newEvent("a", { receivedAt }));
    await fixture.store.accept(newEvent("b", { receivedAt: receivedAt + DAY }));
    expect(await operate(fixture.store).idsKnownSince()).toBe(since);
  });

  test("ids are known since the time before which retention removes them, although an older event stays", async () => {
    await fixture.store.accept(newEvent("stays"));
    await fixture.store.accept(newEvent("goes", { work: [] }));
    await prune(T + DAY);
    expect(await findIds(operate(fixture.store), { source: "", ids: ["stays", "goes"] })).toEqual(["stays"]);
    expect(await operate(fixture.store).idsKnownSince()).toBe(T + DAY);
  });

  test("a round of retention that goes on with a later limit notes it", async () => {
    await fixture.store.noteTimes({ clock: T });
    await fixture.store.accept(newEvent("first", { work: [] }));
    await fixture.store.accept(newEvent("second", { receivedAt: T + 2 * DAY, work: [] }));
    await prune(T + DAY);
    await prune(T + 3 * DAY);
    expect(await findIds(operate(fixture.store), { source: "", ids: ["first", "second"] })).toEqual([]);
    expect(await operate(fixture.store).idsKnownSince()).toBe(T + 3 * DAY);
  });

  test("a time of retention with a fraction of a millisecond is rounded up", async () => {
    await fixture.store.accept(newEvent("stays"));
    await prune(T + 0.25);
    expect(await operate(fixture.store).idsKnownSince()).toBe(T + 1);
  });

  test("a longer retention brings no removed id back", async () => {
    await fixture.store.accept(newEvent("stays"));
    await prune(T + DAY);
    await prune(T + 1);
    expect(await operate(fixture.store).idsKnownSince()).toBe(T + DAY);
  });

  test("a retention that reaches back behind the first event removes nothing", async () => {
    await fixture.store.accept(newEvent("a"));
    await prune(T - DAY);
    expect(await operate(fixture.store).idsKnownSince()).toBe(T);
  });

  test("since when ids are known stays for the next process", async ({ skip }) => {
    skip(!fixture.kind.outlives, ENDS_WITH_STORE);
    await fixture.store.noteTimes({ clock: T });
    const next = await fixture.reopen();
    expect(await operate(next).idsKnownSince()).toBe(T);
    await next.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY });
    expect(await operate(await fixture.reopen()).idsKnownSince()).toBe(T + DAY);
  });
}
