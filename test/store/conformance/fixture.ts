import type { Store } from "#pigeonhole/store/store.js";
import { afterEach, beforeEach } from "vitest";
import { context, T } from "./new-event.js";

/** What the suite needs of one kind of store, and what holds for this kind only. */
export interface StoreKind<Tx = unknown> {
  name: string;
  create(): StoreUnderTest<Tx> | Promise<StoreUnderTest<Tx>>;
  /** Rows of one transaction of an operator at most. */
  page: number;
  /** Another store can go on with the data. */
  outlives: boolean;
  /** Several stores have the work at once, each with leases of its own; otherwise the first one that asks. */
  isShared: boolean;
  /** The function given to `commit` may return a promise, which is waited for; otherwise that is refused. */
  hasAsyncCommit: boolean;
  /** Ways to keep hold of what a transaction gave out; the function they return is called after its end. */
  lateUses: readonly { name: string; keep(tx: Tx): () => unknown }[];
}

export interface StoreUnderTest<Tx = unknown> {
  /** Not open yet. */
  store: Store<unknown>;
  /** Another store on the same data, not open; missing when the data ends with its store. */
  another?: () => Store<unknown>;
  /** Where an operator finds the data; missing when it ends with its store. */
  place?: string;
  /** Runs SQL on the tables, which are in the schema `pigeonhole` in it. */
  execute?: (sql: string) => Promise<void>;
  /** Writes a row of the user's own in the transaction. */
  write(tx: Tx, text: string): void | Promise<void>;
  /** The user's rows that are committed. */
  written(): Promise<string[]>;
  /** What does not fit together in the tables, where they can be looked at. */
  faults?: () => Promise<unknown[]>;
  /** Removes the data; the stores are closed. */
  dispose(): void | Promise<void>;
}

/** The store of the running test: open, and owner of its data. */
export interface Fixture extends Pick<StoreUnderTest, "store" | "write" | "written"> {
  kind: StoreKind;
  another(): Store<unknown>;
  /**
   * Closes the store and goes on with another one on the same data, as the next process would. It has recovered
   * nothing.
   */
  reopen(): Promise<Store<unknown>>;
}

/** Why a test is skipped if the data of the store under test ends with it. */
export const ENDS_WITH_STORE = "The data of this kind of store ends with the store.";

/** Opens a store before each test of the suite and closes it afterwards. */
export function useStore(kind: StoreKind): Fixture {
  let current: StoreUnderTest | undefined;
  const stores = new Set<Store<unknown>>();
  const get = (): StoreUnderTest => {
    if (current === undefined) throw new Error("no test is running");
    return current;
  };
  const another = (): Store<unknown> => {
    const store = get().another?.();
    if (store === undefined) throw new Error("this kind of store does not outlive its store");
    stores.add(store);
    return store;
  };

  beforeEach(async () => {
    current = await kind.create();
    stores.add(current.store);
    await current.store.open(context);
    await current.store.recover(T);
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    stores.clear();
    await current?.dispose();
    current = undefined;
  });

  return {
    kind,
    get store() {
      return get().store;
    },
    another,
    async reopen() {
      await get().store.close();
      const next = another();
      await next.open(context);
      get().store = next;
      return next;
    },
    write: (tx, text) => get().write(tx, text),
    written: () => get().written(),
  };
}

/** A function for `commit` that writes a row and then calls `after`; asynchronous where writing is. */
export function writing({ write }: Pick<Fixture, "write">, text: string, after: (tx: unknown) => unknown) {
  return (tx: unknown): unknown => {
    const written = write(tx, text);
    return written instanceof Promise ? written.then(() => after(tx)) : after(tx);
  };
}
