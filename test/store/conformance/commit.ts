import type { CommitTransaction } from "#pigeonhole/store/commit-transaction.js";
import { describe, expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import {
  DAY,
  ENDS_WITH_STORE,
  type Fixture,
  T,
  acceptLeased,
  expectCode,
  leasePage,
  newEvent,
  settlements,
  snapshot,
  statesOf,
} from "./fixture.js";

export function describeCommit(fixture: Fixture): void {
  describe("commit", () => {
    test("commit writes what the function writes, and the done mark", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.commit(settlements.done(lease), (tx) => fixture.write(tx, "effect"));
      expect(await fixture.written()).toEqual(["effect"]);
      expect(await fixture.store.get("evt_1")).toMatchObject({
        state: "done",
        handlers: [{ state: "done", attempts: 1, settledAt: T + 5, discarded: false }],
      });
      expect(await fixture.store.counts(T)).toMatchObject({ leased: 0, done: 1 });
    });

    test("commit is visible to the next process", async ({ skip }) => {
      if (!fixture.outlives) return skip(ENDS_WITH_STORE);
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.commit(settlements.done(lease), (tx) => fixture.write(tx, "effect"));
      const store = await fixture.reopen();
      expect(await statesOf(store, "evt_1")).toEqual({ h: "done" });
      expect(await fixture.written()).toEqual(["effect"]);
    });

    const mine = new Error("mine");
    test.each<[string, unknown]>([
      ["an error", mine],
      ["an error with a code", Object.assign(new Error("busy"), { code: "SQLITE_BUSY" })],
      ["a text", "a text"],
      ["undefined", undefined],
    ])("commit writes nothing if the function throws %s, and rejects with it", async (_, thrown) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      const before = await snapshot(fixture.store);
      const outcome = fixture.store.commit(settlements.done(lease), (tx) => {
        fixture.write(tx, "half");
        throw thrown;
      });
      expect(
        await outcome.then(
          () => "resolved",
          (error: unknown) => ({ error }),
        ),
      ).toEqual({ error: thrown });
      expect(await snapshot(fixture.store)).toEqual(before);
      expect(await fixture.written()).toEqual([]);
    });

    test("commit can be called again with the same lease after its function threw", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      const failing = fixture.store.commit(settlements.done(lease), () => {
        throw mine;
      });
      await expect(failing).rejects.toBe(mine);
      await fixture.store.commit(settlements.done(lease), (tx) => fixture.write(tx, "effect"));
      expect(await fixture.written()).toEqual(["effect"]);
    });

    test("commit refuses a promise and writes nothing, then or later", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      let late: unknown;
      const rest = withResolvers();
      const asynchronous: (tx: CommitTransaction) => unknown = async (tx) => {
        fixture.write(tx, "before await");
        await Promise.resolve();
        try {
          fixture.write(tx, "after await");
        } catch (error) {
          late = error;
        }
        rest.resolve(undefined);
      };
      await expectCode(fixture.store.commit(settlements.done(lease), asynchronous), "commit_async");
      await rest.promise;
      expect(isPigeonholeError(late, "transaction_closed")).toBe(true);
      expect(await fixture.written()).toEqual([]);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "leased" });
    });

    test.each<[string, () => unknown]>([
      ["a promise that rejects", () => Promise.reject(mine)],
      // oxlint-disable-next-line unicorn/no-thenable -- that is the case
      ["any thenable", () => ({ then: () => undefined })],
    ])("commit refuses %s", async (_, fn) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await expectCode(fixture.store.commit(settlements.done(lease), fn), "commit_async");
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "leased" });
    });

    test("commit accepts any other return value", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.commit(settlements.done(lease), () => ({ changes: 1 }));
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "done" });
    });

    test("commit deletes the steps if asked", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      await fixture.store.saveStep(lease, "one", "1");
      await fixture.store.commit({ ...settlements.done(lease), dropSteps: true }, () => undefined);
      expect(await fixture.store.loadSteps(lease)).toEqual({});
    });
  });

  describe("several commits at once", () => {
    test("one of several commits at once that throws does not affect the others", async () => {
      const leases = await Promise.all(["a", "b", "c"].map((id) => acceptLeased(fixture.store, id)));
      const results = await Promise.allSettled(
        leases.map((lease, index) =>
          fixture.store.commit(settlements.done(lease), (tx) => {
            fixture.write(tx, `effect ${index}`);
            if (index === 1) throw new Error("mine");
          }),
        ),
      );
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await fixture.written()).toEqual(["effect 0", "effect 2"]);
      expect(await fixture.store.counts(T)).toMatchObject({ leased: 1, done: 2 });
      expect(await statesOf(fixture.store, "b")).toEqual({ h: "leased" });
    });

    test("several commits of one lease at once take effect once, by the first", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      const first = fixture.store.commit(settlements.done(lease), (tx) => fixture.write(tx, "first"));
      const second = fixture.store.commit(settlements.done(lease), (tx) => fixture.write(tx, "second"));
      await expectCode(second, "lease_lost");
      await first;
      expect(await fixture.written()).toEqual(["first"]);
    });

    test("a hundred commits at once, among deliveries and settlements, all take effect once", async () => {
      const ids = Array.from({ length: 100 }, (_, index) => `evt_${index}`);
      const leases = await Promise.all(ids.map((id) => acceptLeased(fixture.store, id)));
      await Promise.all(
        leases.flatMap((lease, index) => [
          fixture.store.commit(settlements.done(lease), (tx) => fixture.write(tx, ids[index] ?? "?")),
          fixture.store.accept(newEvent(`new_${index}`)),
          fixture.store.settle({ ...settlements.dead(lease), token: lease.token + 1_000_000 }),
        ]),
      );
      expect((await fixture.written()).toSorted()).toEqual(ids.toSorted());
      expect(await fixture.store.counts(T)).toMatchObject({ leased: 0, pending: 100, done: 100, dead: 0 });
    });

    test("a store call made inside the function is answered, and so is the next one", async () => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      let inside: Promise<unknown> | undefined;
      await fixture.store.commit(settlements.done(lease), () => {
        inside = fixture.store.accept(newEvent("inside"));
      });
      const after = fixture.store.accept(newEvent("after"));
      expect(await inside).toMatchObject({ kind: "stored" });
      expect(await after).toMatchObject({ kind: "stored" });
      expect(await fixture.store.get("inside")).toMatchObject({ id: "inside" });
    });

    test("a commit made inside the function of another one is a transaction of its own", async () => {
      const [a, b] = await Promise.all(["a", "b"].map((id) => acceptLeased(fixture.store, id)));
      let inner: Promise<void> | undefined;
      const outer = fixture.store.commit(settlements.done(a ?? expect.unreachable()), () => {
        inner = fixture.store.commit(settlements.done(b ?? expect.unreachable()), (tx) => fixture.write(tx, "inner"));
        throw new Error("outer");
      });
      await expect(outer).rejects.toThrow("outer");
      await inner;
      expect(await fixture.written()).toEqual(["inner"]);
      expect(await statesOf(fixture.store, "a")).toEqual({ h: "leased" });
    });
  });

  describe("a transaction after its end", () => {
    test.each(fixture.kind.lateUses.map((use) => [use.name, use] as const))(
      "a transaction cannot be used after its end: %s",
      async (_, use) => {
        const lease = await acceptLeased(fixture.store, "evt_1");
        let keptUse: (() => unknown) | undefined;
        await fixture.store.commit(settlements.done(lease), (tx) => {
          fixture.write(tx, "effect");
          keptUse = use.keep(tx);
        });
        const before = await snapshot(fixture.store);
        expect(keptUse).toThrow(expect.toSatisfy((error: unknown) => isPigeonholeError(error, "transaction_closed")));
        expect(await snapshot(fixture.store)).toEqual(before);
        expect(await fixture.written()).toEqual(["effect"]);
      },
    );

    test.each(fixture.kind.lateUses.map((use) => [use.name, use] as const))(
      "a transaction cannot be used after its function threw: %s",
      async (_, use) => {
        const lease = await acceptLeased(fixture.store, "evt_1");
        let keptUse: (() => unknown) | undefined;
        const outcome = fixture.store.commit(settlements.done(lease), (tx) => {
          fixture.write(tx, "effect");
          keptUse = use.keep(tx);
          throw new Error("mine");
        });
        await expect(outcome).rejects.toThrow("mine");
        expect(keptUse).toThrow(expect.toSatisfy((error: unknown) => isPigeonholeError(error, "transaction_closed")));
        expect((await leasePage(fixture.store, { now: T + DAY })).work).toEqual([]);
      },
    );
  });
}

function withResolvers() {
  let resolve: (value: unknown) => void = () => undefined;
  const promise = new Promise((give) => (resolve = give));
  return { promise, resolve };
}
