import type { LeasePage, LeaseRequest, NewEvent, Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { countWork, operate } from "../../support/operate.js";
import { DAY, MINUTE, T, newEvent } from "./new-event.js";

/** Stores an event with its work leased; handler `h` unless named. */
export async function acceptLeased(store: Store<unknown>, id: string, change: Partial<NewEvent> = {}): Promise<Lease> {
  const result = await store.accept(newEvent(id, { work: [{ handler: "h", leaseUntil: T + MINUTE }], ...change }));
  const lease = result.kind === "stored" ? result.leases[0] : undefined;
  if (lease === undefined) throw new Error(`${id} was not stored with a lease`);
  return lease;
}

/** Stores an event with its work leased for each of these handlers, in their order. */
export async function acceptFor(
  store: Store<unknown>,
  id: string,
  handlers: readonly string[],
): Promise<readonly Lease[]> {
  const work = handlers.map((handler) => ({ handler, leaseUntil: T + DAY }));
  const result = await store.accept(newEvent(id, { work }));
  return result.kind === "stored" ? result.leases : [];
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

/** States of an event's handlers by name. */
export async function statesOf(store: Store<unknown>, id: string): Promise<Record<string, string>> {
  const event = await operate(store).getEvent(id);
  return Object.fromEntries(event?.handlers.map(({ handler, state }) => [handler, state]) ?? []);
}

/** Everything the store tells about its contents, to show that a call changed nothing. */
export async function snapshot(store: Store<unknown>): Promise<unknown> {
  const { items } = await operate(store).listEvents({ limit: 500 });
  return {
    counts: await countWork(store, T),
    events: await Promise.all(items.map(({ id }) => operate(store).getEvent(id))),
  };
}
