import { isRetrying } from "./describe-work.js";

/* Without node: imports, since the page uses it too. */

/** One handler's work on an event, as an inbox or the dev server's page has it. */
interface Work {
  state: string;
  attempts: number;
  error?: string | null | undefined;
  retryRequestedAt?: string | number | null | undefined;
  discarded: boolean;
}

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
export function isRetryRequested({ state, attempts, error, retryRequestedAt }: Work): boolean {
  const isRequested = retryRequestedAt !== null && retryRequestedAt !== undefined;
  return isRequested || (state === "pending" && attempts === 0 && typeof error === "string");
}

/** The word of the event: what is wrong with it before what is done. */
export function wordOfWork({ state, handlers }: { state: string; handlers: readonly Work[] }): WorkWord {
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
