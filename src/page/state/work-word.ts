import { isRetrying } from "../../capture/model/describe-work.js";
import type { InboxEvent } from "../../dev/api/page-api.js";

/** What the handlers made of an event, in one word. */
export type WorkWord = "no work" | "waiting" | "running" | "retrying" | "done" | "discarded" | "dead" | "parked";

/** The word of the event: what is wrong with it before what is done. */
export function wordOfWork({ state, handlers }: Pick<InboxEvent, "state" | "handlers">): WorkWord {
  if (handlers.length === 0) return "no work";
  switch (state) {
    case "dead":
    case "parked":
      return state;
    case "leased":
      return "running";
    case "done":
      return handlers.every(({ discarded }) => discarded) ? "discarded" : "done";
    default:
      return handlers.some(isRetrying) ? "retrying" : "waiting";
  }
}
