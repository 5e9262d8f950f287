import { silentLogger } from "#pigeonhole/base/logger.js";
import { isPigeonholeError, type ErrorCode } from "#pigeonhole/base/error.js";
import type { LeasePage, LeaseRequest, NewEvent, PruneLimits, Store } from "#pigeonhole/store/store.js";
import type { Lease, Settlement } from "#pigeonhole/store/work.js";
import { afterEach, beforeEach, expect } from "vitest";
import { countWork, operate } from "../../support/operate.js";

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
  /** Writes a row of the user's own in the transaction. */
  write(tx: Tx, text: string): void | Promise<void>;
  /** The user's rows that are committed. */
  written(): Promise<string[]>;
  /** Removes the data; the stores are closed. */
  dispose(): void | Promise<void>;
}

/** The store of the running test: open, and owner of its data. */
export interface Fixture extends Omit<StoreUnderTest, "another" | "dispose"> {
  kind: StoreKind;
  another(): Store<unknown>;
  /**
   * Closes the store and goes on with another one on the same data, as the next process would. It has recovered
   * nothing.
   */
  reopen(): Promise<Store<unknown>>;
}

export const context = { logger: silentLogger };

/** A time to begin with; all others are given relative to it. */
export const T = 1_760_000_000_000;
export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** Limits of a round long after {@link T} that lets nothing go; tests move one of them. */
export const NOTHING_TO_PRUNE: PruneLimits = {
  now: T + 100 * DAY,
  idsBefore: 0,
  bodiesBefore: 0,
  sentBefore: 0,
  batch: 100,
};

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

export function newEvent(id: string, change: Partial<NewEvent> = {}): NewEvent {
  return {
    id,
    type: "email.received",
    receivedAt: T,
    signedAt: T - 1_000,
    test: false,
    body: Buffer.from(`{"id":"${id}"}`),
    work: [{ handler: "h" }],
    ...change,
  };
}

/** Stores an event with its work leased; handler `h` unless named. */
export async function acceptLeased(store: Store<unknown>, id: string, change: Partial<NewEvent> = {}): Promise<Lease> {
  const result = await store.accept(newEvent(id, { work: [{ handler: "h", leaseUntil: T + MINUTE }], ...change }));
  const lease = result.kind === "stored" ? result.leases[0] : undefined;
  if (lease === undefined) throw new Error(`${id} was not stored with a lease`);
  return lease;
}

export async function acceptAll(
  store: Store<unknown>,
  ids: readonly string[],
  change: Partial<NewEvent> = {},
): Promise<void> {
  for (const id of ids) await store.accept(newEvent(id, change));
}

export function leasePage(store: Store<unknown>, change: Partial<LeaseRequest> = {}): Promise<LeasePage> {
  return store.lease({
    handler: "h",
    now: T,
    leaseUntil: T + MINUTE,
    limit: 100,
    maxBytes: 1_000_000,
    crashedLimit: 100,
    allowCrashLooping: true,
    ...change,
  });
}

/** Ids of the events in a page, in its order. */
export const idsOf = ({ work }: LeasePage): string[] => work.map(({ eventId }) => eventId);

/** Ends a page's leases as the death of a process does; the work is due at once afterwards. */
export async function crash(store: Store<unknown>, change: Partial<LeaseRequest> = {}): Promise<string[]> {
  const page = await leasePage(store, { ...change, now: T + DAY, leaseUntil: T + MINUTE });
  await store.recover(T + DAY);
  return idsOf(page);
}

/** Settlements of each kind. */
export const settlements = {
  done: (lease: Lease) => ({ ...bare(lease), at: T + 5, dropSteps: false, to: "done" }) as const,
  pending: (lease: Lease, dueAt = T + 50) =>
    ({ ...bare(lease), at: T + 5, dropSteps: false, to: "pending", dueAt, error: "it failed" }) as const,
  dead: (lease: Lease) =>
    ({ ...bare(lease), at: T + 5, dropSteps: false, to: "dead", reason: "do_not_retry", error: "it failed" }) as const,
  parked: (lease: Lease) =>
    ({
      ...bare(lease),
      at: T + 5,
      dropSteps: false,
      to: "parked",
      reason: "mismatch",
      error: "no such field",
    }) as const,
} satisfies Record<Settlement["to"], (lease: Lease) => Settlement>;

/** A span as the store keeps it, with its vendor's part. */
export const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 vendor=1";

export const TARGETS = ["done", "pending", "dead", "parked"] as const;

export const bare = ({ seq, handler, token }: Lease): Lease => ({ seq, handler, token });

/** A function for `commit` that writes a row and then calls `after`; asynchronous where writing is. */
export function writing({ write }: Pick<Fixture, "write">, text: string, after: (tx: unknown) => unknown) {
  return (tx: unknown): unknown => {
    const written = write(tx, text);
    return written instanceof Promise ? written.then(() => after(tx)) : after(tx);
  };
}

/** States of an event's handlers by name. */
export async function statesOf(store: Store<unknown>, id: string): Promise<Record<string, string>> {
  const event = await store.getEvent(id);
  return Object.fromEntries(event?.handlers.map(({ handler, state }) => [handler, state]) ?? []);
}

/** Everything the store tells about its contents, to show that a call changed nothing. */
export async function snapshot(store: Store<unknown>): Promise<unknown> {
  const { items } = await operate(store).listEvents({ limit: 500 });
  return { counts: await countWork(store, T), events: await Promise.all(items.map(({ id }) => store.getEvent(id))) };
}

export async function expectCode(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(promise).rejects.toSatisfy((error: unknown) => isPigeonholeError(error, code));
}

/** The lease, which has to be there. */
export const expectLease = (lease: Lease | undefined): Lease => lease ?? expect.unreachable();
