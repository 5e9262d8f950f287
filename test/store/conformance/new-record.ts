import { isoTime } from "#pigeonhole/base/iso-time.js";
import type {
  ComparableOutboxEvent,
  EventResult,
  FrozenSend,
  OutboxView,
  SendSettlement,
} from "#pigeonhole/store/outbox.js";
import { outboxView } from "../../support/outbox-view.js";
import { T } from "./new-event.js";

/** A contact event that happened at T. */
export function newRecord(key: string, change: Partial<ComparableOutboxEvent> = {}): ComparableOutboxEvent {
  const body = JSON.stringify({ name: key, email: "ada@example.com", occurredAt: new Date(T).toISOString() });
  return { key, body, occurredAt: T, isTimeGiven: true, ...change };
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
