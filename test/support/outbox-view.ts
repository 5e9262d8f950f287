import type { OutboxView } from "#pigeonhole/store/outbox.js";

/** A contact event that waits to be sent for the first time, but for the changes. */
export function outboxView(changes: Partial<OutboxView>): OutboxView {
  return {
    seq: 1,
    key: "key_1",
    state: "pending",
    body: "{}",
    name: "",
    contact: "",
    recordedAt: "1970-01-01T00:00:00.000Z",
    occurredAt: "1970-01-01T00:00:00.000Z",
    settledAt: null,
    attempts: 0,
    error: null,
    dueAt: null,
    remoteId: null,
    reason: null,
    code: null,
    param: null,
    message: null,
    inboxEventId: null,
    call: null,
    callEvents: null,
    ...changes,
  };
}
