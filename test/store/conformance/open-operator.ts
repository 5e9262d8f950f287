import { describe, expect, test } from "vitest";
import { PigeonholeError } from "#pigeonhole/base/error.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { acceptAll } from "./lease-page.js";
import { type Fixture } from "./fixture.js";
import { T, newEvent } from "./new-event.js";
import { countWork, operate } from "../../support/operate.js";

export function describeOpenOperator(fixture: Fixture): void {
  const operator = (): InboxOperator => fixture.store.openOperator(Date.now);

  describe("the operator of an open store", () => {
    test("it sees what the store has just accepted, and the store what it changes", async () => {
      const { store } = fixture;
      await store.accept(newEvent("e1"));
      const inbox = operator();
      expect((await inbox.listEvents()).items.map(({ id }) => id)).toEqual(["e1"]);
      expect(Buffer.from((await inbox.getEvent("e1"))?.body ?? []).equals(newEvent("e1").body)).toBe(true);
      expect(await inbox.changeEvent("discard", "e1")).toEqual({ work: 1, readAgain: 0 });
      expect((await operate(store).getEvent("e1"))?.handlers).toMatchObject([{ state: "discarded" }]);
      expect((await countWork(store, T)).pending).toBe(0);
    });

    test("it reads the bodies of several events, and leaves out large and unknown ones", async () => {
      const { store } = fixture;
      await acceptAll(store, ["a", "b"]);
      await acceptAll(store, ["c"], { body: Buffer.alloc(2_000, "x") });
      const bodies = await operator().readBodies({ ids: ["a", "b", "c", "unknown"], maxBytes: 1_000 });
      expect([...bodies.keys()].toSorted()).toEqual(["a", "b"]);
      expect(Buffer.from(bodies.get("b") ?? []).equals(newEvent("b").body)).toBe(true);
      expect(await operator().readBodies({ ids: [], maxBytes: 1_000 })).toEqual(new Map());
    });

    test("its calls run side by side, and each gets its own answer", async () => {
      await fixture.store.accept(newEvent("e1"));
      const inbox = operator();
      const [event, missing, counts] = await Promise.all([
        inbox.getEvent("e1"),
        inbox.changeEvent("discard", "missing").catch((error: unknown) => error),
        inbox.overview(),
      ]);
      expect(event?.id).toBe("e1");
      expect(missing).toMatchObject({ code: "not_found", message: expect.stringContaining("missing") as string });
      expect(missing).toBeInstanceOf(PigeonholeError);
      expect(counts.events.pending).toBe(1);
    });

    test("it refuses what cannot be asked for, as the store does", async () => {
      await expect(operator().listEvents({ cursor: "nonsense" })).rejects.toMatchObject({ code: "invalid_argument" });
      // It still answers.
      expect((await operator().listEvents()).items).toEqual([]);
    });

    test("a list goes on behind any of its rows, whatever comes or changes meanwhile", async () => {
      const { store } = fixture;
      const ids = ["e1", "e2", "e3", "e4", "e5"];
      for (const id of ids) await store.accept(newEvent(id));
      const inbox = operator();
      const query = { state: "pending", patienceMs: 1_000 } as const;
      const { items, cursors } = await inbox.listEvents({ ...query, limit: 4 });
      expect(cursors).toHaveLength(4);
      await store.accept(newEvent("e6"));
      await inbox.changeEvent("discard", "e5");
      await inbox.changeEvent("discard", "e3");
      const pending = ["e4", "e2", "e1"];
      for (const [index, { id }] of items.entries()) {
        const rest = await inbox.listEvents({ ...query, cursor: cursors[index] });
        expect(rest.items.map((each) => each.id)).toEqual(pending.filter((each) => each < id));
      }
    });

    test("once the store is closed, its calls reject with stopped", async () => {
      const inbox = operator();
      await inbox.listEvents();
      const underWay = inbox.listEvents().catch((error: unknown) => error);
      await fixture.store.close();
      const ended = await underWay;
      if (ended instanceof Error) expect(ended).toMatchObject({ code: "stopped" });
      await expect(inbox.listEvents()).rejects.toMatchObject({ code: "stopped" });
    });
  });
}
