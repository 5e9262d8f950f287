import { describe, expect, test } from "vitest";
import { DAY, NOTHING_TO_PRUNE, T, newEvent } from "./new-event.js";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { acceptAll } from "./lease-page.js";
import { findIds } from "#pigeonhole/store/known-ids.js";
import { operate } from "../../support/operate.js";

export function describeKnownIds(fixture: Fixture): void {
  describe("findIds", () => {
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
  });

  describe("idsKnownSince", () => {
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
  });
}
