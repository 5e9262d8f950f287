import { isRetrying } from "../../capture/model/describe-work.js";
import type { InboxEvent, InboxHandler } from "../../dev/api/page-api.js";

/** What the handlers made of an event, in one word. */
export type WorkWord =
  | "no work"
  | "waiting"
  | "running"
  | "retrying"
  | "retry requested"
  | "done"
  | "discarded"
  | "dead"
  | "parked";

/** Whether a retry was requested that the receiver has not taken up: the error is that of the runs before. */
export function isRetryRequested({ state, attempts, error, retryRequestedAt }: InboxHandler): boolean {
  return retryRequestedAt !== null || (state === "pending" && attempts === 0 && error !== null);
}

/** The word of the event: what is wrong with it before what is done. */
export function wordOfWork({ state, handlers }: Pick<InboxEvent, "state" | "handlers">): WorkWord {
  if (handlers.length === 0) return "no work";
  switch (state) {
    case "dead":
      return state;
    case "parked":
      return handlers.some(isRetryRequested) ? "retry requested" : state;
    case "leased":
      return "running";
    case "done":
      return handlers.every(({ discarded }) => discarded) ? "discarded" : "done";
    default:
      if (handlers.some(isRetryRequested)) return "retry requested";
      return handlers.some(isRetrying) ? "retrying" : "waiting";
  }
}
