import type { FrozenSend, OutboxView, SendPage, SendRequest } from "#pigeonhole/store/outbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import { expect } from "vitest";
import { MINUTE, T } from "./new-event.js";
import { RESULTS, newRecord, sendSettlements } from "./new-record.js";
import { countOutbox, operate } from "../../support/operate.js";

/** Records events under these keys, each by itself and in this order. */
export async function recordKeys(store: Store<unknown>, ...keys: string[]): Promise<void> {
  for (const key of keys) expect(await store.record(newRecord(key), T)).toBe("recorded");
}

export function leaseSend(store: Store<unknown>, change: Partial<SendRequest> = {}): Promise<SendPage> {
  return store.leaseSend({ now: T, leaseUntil: T + MINUTE, limit: 100, ...change });
}

/** The call that {@link leaseSend} gives; fails the test when there is none. */
export async function takeSend(store: Store<unknown>, change: Partial<SendRequest> = {}): Promise<FrozenSend> {
  return (await leaseSend(store, change)).send ?? expect.unreachable("no call was given");
}

/** Settles every event of a call alike. */
export function settleAll(
  store: Store<unknown>,
  send: FrozenSend,
  to: keyof typeof RESULTS,
): Promise<"settled" | "lost"> {
  const results = send.events.map(({ seq }) => RESULTS[to](seq));
  return store.settleSend(sendSettlements.settled(send, results));
}

/** Oldest first. */
export async function outboxOf(store: Store<unknown>): Promise<OutboxView[]> {
  return (await operate(store).listContactEvents({ limit: 500 })).items.toReversed();
}

/** States by key. */
export async function outboxStates(store: Store<unknown>): Promise<Record<string, string>> {
  return Object.fromEntries((await outboxOf(store)).map(({ key, state }) => [key, state]));
}

/** Everything the outbox tells about its contents, to show that a call changed nothing. */
export async function outboxSnapshot(store: Store<unknown>): Promise<unknown> {
  return { counts: await countOutbox(store), events: await outboxOf(store) };
}
