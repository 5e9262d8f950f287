import { expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import { endOfTurn } from "../../support/end-of-turn.js";
import { T, newEvent, settlements, expectCode } from "./new-event.js";
import { acceptLeased, snapshot, statesOf } from "./lease-page.js";
import { type Fixture, writing } from "./fixture.js";
import { countWork, operate } from "../../support/operate.js";

const mine = new Error("mine");

/** A use after the end is refused, by an error or by a promise that rejects. */
function expectClosed(use: (() => unknown) | undefined): Promise<void> {
  return expectCode(
    Promise.resolve().then(() => use?.()),
    "transaction_closed",
  );
}

export function describeCommit(fixture: Fixture): void {
  const { kind } = fixture;

  test.each<[string, unknown]>([
    ["an error", mine],
    ["an error with a code", Object.assign(new Error("busy"), { code: "SQLITE_BUSY" })],
    ["a text", "a text"],
    ["undefined", undefined],
  ])("commit writes nothing if the function throws %s, and rejects with it", async (_, thrown) => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    const before = await snapshot(fixture.store);
    const fail = (): never => {
      throw thrown;
    };
    const outcome = fixture.store.commit(settlements.done(lease), writing(fixture, "half", fail));
    expect(
      await outcome.then(
        () => "resolved",
        (error: unknown) => ({ error }),
      ),
    ).toEqual({ error: thrown });
    expect(await snapshot(fixture.store)).toEqual(before);
    expect(await fixture.written()).toEqual([]);
  });

  test.skipIf(kind.hasAsyncCommit)("commit refuses a promise and writes nothing, then or later", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    let late: unknown;
    const rest = withResolvers();
    const asynchronous = async (tx: unknown): Promise<void> => {
      void fixture.write(tx, "before await");
      await Promise.resolve();
      try {
        void fixture.write(tx, "after await");
      } catch (error) {
        late = error;
      }
      rest.resolve(undefined);
    };
    await expectCode(fixture.store.commit(settlements.done(lease), asynchronous), "commit_async");
    await rest.promise;
    expect(isPigeonholeError(late, "transaction_closed")).toBe(true);
    expect(await fixture.written()).toEqual([]);
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "running" });
  });

  test.skipIf(kind.hasAsyncCommit).each<[string, () => unknown]>([
    ["a promise that rejects", () => Promise.reject(mine)],
    // oxlint-disable-next-line unicorn/no-thenable -- that is the case
    ["any thenable", () => ({ then: () => undefined })],
  ])("commit refuses %s", async (_, fn) => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    await expectCode(fixture.store.commit(settlements.done(lease), fn), "commit_async");
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "running" });
  });

  test.runIf(kind.hasAsyncCommit)("commit waits for its function's promise", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    await fixture.store.commit(settlements.done(lease), async (tx) => {
      await fixture.write(tx, "first");
      await endOfTurn();
      await fixture.write(tx, "second");
    });
    expect(await fixture.written()).toEqual(["first", "second"]);
  });

  test("commit accepts any other return value", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    await fixture.store.commit(settlements.done(lease), () => ({ changes: 1 }));
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "done" });
  });

  test("commit deletes the steps if asked", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    await fixture.store.saveStep(lease, "one", "1", T);
    await fixture.store.commit({ ...settlements.done(lease), dropSteps: true }, () => undefined);
    expect(await fixture.store.loadSteps(lease)).toEqual({});
  });

  const accept = () => Promise.all(["a", "b", "c"].map((id) => acceptLeased(fixture.store, id)));

  test("a commit of several whose function throws ends no lease, and spares the commits beside it", async () => {
    const [first, second, third] = (await accept()).map((lease) => settlements.done(lease));
    if (first === undefined || second === undefined || third === undefined) return expect.unreachable();
    const fail = (): never => {
      throw mine;
    };
    const results = await Promise.allSettled([
      fixture.store.commit([first, second], writing(fixture, "half", fail)),
      fixture.store.commit(third, (tx) => fixture.write(tx, "effect")),
    ]);
    expect(results).toMatchObject([{ reason: mine }, { status: "fulfilled" }]);
    expect(await countWork(fixture.store, T)).toMatchObject({ running: 2, done: 1 });
    expect(await fixture.written()).toEqual(["effect"]);
  });

  test("several commits of one lease at once take effect once", async () => {
    const lease = await acceptLeased(fixture.store, "evt_1");
    const texts = ["first", "second", "third"];
    const results = await Promise.allSettled(
      texts.map((text) => fixture.store.commit(settlements.done(lease), (tx) => fixture.write(tx, text))),
    );
    const winners = texts.filter((_, index) => results[index]?.status === "fulfilled");
    expect(await fixture.written()).toEqual(winners);
    expect(winners).toHaveLength(1);
    // Transactions of several connections have no order.
    if (!kind.isShared) expect(winners).toEqual(["first"]);
    const losers = results.filter((result) => result.status === "rejected");
    expect(losers.map(({ reason }) => (reason as { code: string }).code)).toEqual(["lease_lost", "lease_lost"]);
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
    expect(await countWork(fixture.store, T)).toMatchObject({ running: 0, pending: 100, done: 100, dead: 0 });
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
    expect(await operate(fixture.store).getEvent("inside")).toMatchObject({ id: "inside" });
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
    expect(await statesOf(fixture.store, "a")).toEqual({ h: "running" });
  });

  test.each(kind.lateUses.map((use) => [use.name, use] as const))(
    "a transaction cannot be used after its end, or after its function threw: %s",
    async (_, use) => {
      const lease = await acceptLeased(fixture.store, "evt_1");
      for (const throws of [true, false]) {
        let keptUse: (() => unknown) | undefined;
        const keep = (tx: unknown): void => {
          keptUse = use.keep(tx);
          if (throws) throw mine;
        };
        const outcome = fixture.store.commit(settlements.done(lease), writing(fixture, "effect", keep));
        await (throws ? expect(outcome).rejects.toBe(mine) : outcome);
        await expectClosed(keptUse);
      }
      expect(await fixture.written()).toEqual(["effect"]);
      expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "done" });
    },
  );
}

function withResolvers() {
  let resolve: (value: unknown) => void = () => undefined;
  const promise = new Promise((give) => (resolve = give));
  return { promise, resolve };
}
