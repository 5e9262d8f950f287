import type { OutboxView } from "#pigeonhole/store/outbox.js";

/** A contact event that waits to be sent for the first time, but for the changes. */
export function outboxView(changes: Partial<OutboxView>): OutboxView {
  return {
    seq: 1,
    key: "key_1",
    state: "pending",
    body: "{}",
    recordedAt: 0,
    occurredAt: 0,
    settledAt: undefined,
    attempts: 0,
    error: undefined,
    dueAt: undefined,
    remoteId: undefined,
    reason: undefined,
    code: undefined,
    param: undefined,
    message: undefined,
    inboxEventId: undefined,
    call: undefined,
    callEvents: undefined,
    ...changes,
  };
}
