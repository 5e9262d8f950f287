import type { Store } from "#pigeonhole/store/store.js";
import { NO_FIGURES } from "#pigeonhole/store/figure-rows.js";
import { expect, test } from "vitest";
import { ENDS_WITH_STORE, type Fixture } from "./fixture.js";
import { context, NOTHING_TO_PRUNE, T, newEvent, settlements, expectCode } from "./new-event.js";
import { acceptLeased, leasePage, statesOf } from "./lease-page.js";
import { newRecord } from "./new-record.js";
import { countWork } from "../../support/operate.js";

/** Of a token that is never given. */
const LEASE = { seq: 1, handler: "h", token: 2 ** 50 };

/** One call of each method but open and close, and but those that not every store has. */
export const CALLS = {
  accept: (store) => store.accept(newEvent("evt_1")),
  lease: (store) => leasePage(store),
  renew: (store) => store.renew([LEASE], T),
  release: (store) => store.release([LEASE], T),
  reserveRuns: (store) => store.reserveRuns({ handler: "h", now: T, gapMs: 1, count: 1 }),
  settle: (store) => store.settle(settlements.done(LEASE)),
  commit: (store) => store.commit(settlements.done(LEASE), () => expect.unreachable()),
  beginNewest: (store) => store.beginNewest(LEASE, { key: "k", createdAt: T }, T),
  recover: (store) => store.recover(T),
  restartWaits: (store) => store.restartWaits({ now: T, leaseUntil: T }),
  loadSteps: (store) => store.loadSteps(LEASE),
  saveStep: (store) => store.saveStep(LEASE, "a", "1", T),
  listStuck: (store) => store.listStuck({ state: "dead", limit: 1, afterSeq: 0 }),
  replan: (store) => store.replan({ seq: 1, handlers: [], now: T }),
  record: (store) => store.record(newRecord("a"), T),
  leaseSend: (store) => store.leaseSend({ now: T, leaseUntil: T, limit: 1 }),
  settleSend: (store) => store.settleSend({ send: 1, token: 1, at: T, to: "settled", results: [] }),
  prune: (store) => store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T }),
  keepPolicies: (store) => store.keepPolicies([{ handler: "h", maxAttempts: 1, types: [] }]),
  listPaused: (store) => store.listPaused(),
  writeFigures: (store) => store.writeFigures({ process: "p", now: T, figures: NO_FIGURES, status: undefined }),
  readDiskUse: (store) => store.readDiskUse(),
  noteTimes: (store) => store.noteTimes({ clock: T }),
} satisfies Record<
  Exclude<keyof Store, "file" | "open" | "close" | "glance" | "holdKey" | "maySend" | "openOperator">,
  (store: Store<unknown>) => Promise<unknown>
>;

const METHODS = Object.keys(CALLS) as (keyof typeof CALLS)[];

export function describeLifecycle(fixture: Fixture): void {
  const refusalsOf = async (store: Store<unknown>): Promise<Record<string, unknown>> => {
    const refused = METHODS.map((method) =>
      CALLS[method](store).then(
        () => [method, "resolved"],
        (error: { code?: string }) => [method, error.code],
      ),
    );
    return Object.fromEntries(await Promise.all(refused)) as Record<string, unknown>;
  };
  const STOPPED = Object.fromEntries(METHODS.map((method) => [method, "stopped"]));

  test("a store that is not open rejects each call with stopped", async () => {
    const fresh = await fixture.kind.create();
    expect(await refusalsOf(fresh.store)).toEqual(STOPPED);
    await fresh.store.close();
    await fresh.dispose();
  });

  test("a closed store rejects each call with stopped", async () => {
    await fixture.store.close();
    expect(await refusalsOf(fixture.store)).toEqual(STOPPED);
  });

  // What asks the file system alone keeps no close waiting.
  test.each(METHODS.filter((method) => method !== "readDiskUse"))(
    "close lets a call of %s finish that came before it",
    async (method) => {
      const ended: string[] = [];
      if (method === "commit") await acceptLeased(fixture.store, "evt_1");
      const call = CALLS[method](fixture.store).then(
        () => ended.push("resolved"),
        (error: { code: string }) => ended.push(error.code),
      );
      await fixture.store.close();
      expect(ended).toEqual([method === "commit" ? "lease_lost" : "resolved"]);
      await call;
    },
  );

  test("close keeps what was begun before it", async ({ skip }) => {
    if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
    const { store } = fixture;
    const lease = await acceptLeased(store, "committed");
    const begun = [
      ...Array.from({ length: 300 }, (_, index) => store.accept(newEvent(`evt_${index}`))),
      store.commit(settlements.done(lease), (tx) => fixture.write(tx, "effect")),
    ];
    const next = await fixture.reopen();
    await Promise.all(begun);
    expect(await countWork(next, T)).toMatchObject({ pending: 300, done: 1 });
    expect(await fixture.written()).toEqual(["effect"]);
  });

  test("close refuses a commit that comes while an earlier one waits", async () => {
    const { store } = fixture;
    const first = await acceptLeased(store, "a");
    const second = await acceptLeased(store, "b");
    const before = store.commit(settlements.done(first), () => undefined);
    const closed = store.close();
    await expectCode(
      store.commit(settlements.done(second), () => expect.unreachable()),
      "stopped",
    );
    await before;
    await closed;
  });

  test("close called twice ends with the first call", async () => {
    let stored = false;
    void fixture.store.accept(newEvent("evt_1")).then(() => (stored = true));
    void fixture.store.close();
    await fixture.store.close();
    expect(stored).toBe(true);
  });

  test("close of a store that was never opened does nothing, even twice", async () => {
    const fresh = await fixture.kind.create();
    await fresh.store.close();
    await fresh.store.close();
    await fresh.dispose();
  });

  test("open of an open store does nothing", async () => {
    await fixture.store.accept(newEvent("evt_1"));
    await fixture.store.open(context);
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "pending" });
  });

  const { isShared } = fixture.kind;
  const of = isShared ? "both have the work" : "one has the work and the other has not";
  test(`of two stores on the same data ${of}, and what the first left is recovered`, async ({ skip }) => {
    if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
    await acceptLeased(fixture.store, "evt_1");
    const second = fixture.another();
    await second.open(context);
    expect(await second.recover(T)).toEqual({ owner: isShared, recovered: 0, parked: 0 });
    expect(await statesOf(fixture.store, "evt_1")).toEqual({ h: "running" });
    expect(await fixture.store.recover(T)).toMatchObject({ owner: true });

    await fixture.store.close();
    expect(await second.recover(T)).toEqual({ owner: true, recovered: 1, parked: 0 });
  });

  test("two stores on the same data can both accept deliveries", async ({ skip }) => {
    if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
    const second = fixture.another();
    await second.open(context);
    const copies = [fixture.store, second, fixture.store, second].map((store) => store.accept(newEvent("evt_1")));
    const kinds = (await Promise.all(copies)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(["duplicate", "duplicate", "duplicate", "stored"]);
  });

  test.for(["not opened yet", "closed"])(
    "a store that is %s does not keep the data from another",
    async (when, { skip }) => {
      if (!fixture.kind.outlives) return skip(ENDS_WITH_STORE);
      const idle = when === "closed" ? fixture.store : fixture.another();
      await fixture.store.close();
      await expectCode(idle.recover(T), "stopped");
      const next = fixture.another();
      await next.open(context);
      expect(await next.recover(T)).toMatchObject({ owner: true });
    },
  );
}
