import { isoTime } from "#pigeonhole/base/iso-time.js";
import { outboxView } from "../../support/outbox-view.js";
import type {
  EventResult,
  FrozenSend,
  ComparableOutboxEvent,
  OutboxView,
  SendPage,
  SendRequest,
  SendSettlement,
} from "#pigeonhole/store/outbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import { expect } from "vitest";
import { MINUTE, T } from "./fixture.js";
import { countOutbox, operate } from "../../support/operate.js";

/** A contact event that happened at T. */
export function newRecord(key: string, change: Partial<ComparableOutboxEvent> = {}): ComparableOutboxEvent {
  const body = JSON.stringify({ name: key, email: "ada@example.com", occurredAt: new Date(T).toISOString() });
  return { key, body, occurredAt: T, isTimeGiven: true, ...change };
}

/** Records events under these keys, each by itself and in this order. */
export async function recordKeys(store: Store<unknown>, ...keys: string[]): Promise<void> {
  for (const key of keys) expect(await store.record([newRecord(key)], T)).toEqual(["recorded"]);
}

export function leaseSend(store: Store<unknown>, change: Partial<SendRequest> = {}): Promise<SendPage> {
  return store.leaseSend({ now: T, leaseUntil: T + MINUTE, limit: 100, ...change });
}

/** The call that {@link leaseSend} gives; fails the test when there is none. */
export async function takeSend(store: Store<unknown>, change: Partial<SendRequest> = {}): Promise<FrozenSend> {
  return (await leaseSend(store, change)).send ?? expect.unreachable("no call was given");
}

/** What makes a call the same call. */
export const callOf = ({ send, key, kind, events }: FrozenSend) => ({ send, key, kind, events });

/** Names in the bodies of a call, in its order; they are the keys. */
export const membersOf = ({ events }: FrozenSend): string[] =>
  events.map(({ body }) => (JSON.parse(body) as { name: string }).name);

export const sendSettlements = {
  settled: ({ send, token }: FrozenSend, results: readonly EventResult[]) =>
    ({ send, token, at: T + 5, to: "settled", results }) as const,
  pending: ({ send, token }: FrozenSend, dueAt = T + 50) =>
    ({ send, token, at: T + 5, to: "pending", dueAt, error: "no answer" }) as const,
  dead: ({ send, token }: FrozenSend) =>
    ({
      send,
      token,
      at: T + 5,
      to: "dead",
      reason: "too_old",
      code: undefined,
      param: undefined,
      message: "It is too old.",
    }) as const,
} satisfies Record<SendSettlement["to"], (send: FrozenSend, ...rest: never[]) => SendSettlement>;

export const RESULTS = {
  done: (seq: number): EventResult => ({ seq, to: "done", remoteId: `cev_${seq}`, replayed: false }),
  dead: (seq: number): EventResult => ({
    seq,
    to: "dead",
    reason: "refused",
    code: "contact_not_found",
    param: "email",
    message: "There is no such contact.",
  }),
  again: (seq: number): EventResult => ({ seq, to: "again" }),
};

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

/** A contact event as it is listed before its first call. */
export const waitingView = (key: string, changes: Partial<OutboxView>): OutboxView =>
  outboxView({
    key,
    body: newRecord(key).body,
    name: key,
    contact: "ada@example.com",
    recordedAt: isoTime(T),
    occurredAt: isoTime(T),
    ...changes,
  });
