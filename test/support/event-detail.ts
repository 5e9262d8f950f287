import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { EventDetail, HandlerDetail } from "#pigeonhole/store/inbox-view.js";

/** An event without a body, received and signed at that moment, whose work is as `parts` say. */
export function eventDetail(at: number, parts: Pick<EventDetail, "state" | "handlers">): EventDetail {
  return {
    id: "evt_1",
    source: "",
    type: "email.sent",
    test: false,
    receivedAt: isoTime(at),
    signedAt: isoTime(at),
    seq: 1,
    body: null,
    ...parts,
  };
}

/** Work that waits for its first run. */
export function handlerView(handler: string): HandlerDetail {
  return {
    handler,
    state: "pending",
    reason: null,
    error: null,
    attempts: 0,
    maxAttempts: null,
    dueAt: null,
    settledAt: null,
    retryRequestedAt: null,
    waitsFor: null,
    failed: null,
    steps: [],
  };
}
