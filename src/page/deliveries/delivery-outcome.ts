import { judgeAnswer } from "../../capture/model/answer.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { EventView } from "../../operator/inbox-rows.js";
import { isHeld } from "../../dev/forward/held-tag.js";

/** What became of a delivery, in one word. */
export type DeliveryOutcome = "accepted" | "duplicate" | "retrying" | "parked" | "dead" | "failed" | "not sent";

/** The outcomes as the chart stacks them, from the bottom. Striped: taken, and not done by the handlers. */
export const DELIVERY_OUTCOMES: readonly { name: DeliveryOutcome; tone: string; meaning: string }[] = [
  { name: "accepted", tone: "good", meaning: "answered 2xx" },
  { name: "duplicate", tone: "accent", meaning: "answered 2xx: the receiver had the event already" },
  { name: "retrying", tone: "warn striped", meaning: "answered 2xx; it has failed and runs again" },
  { name: "parked", tone: "warn", meaning: "answered 2xx, and kept without being understood" },
  { name: "dead", tone: "bad striped", meaning: "answered 2xx; a handler has given up" },
  { name: "failed", tone: "bad", meaning: "no answer, another one than 2xx, or an HTML page" },
  { name: "not sent", tone: "mute", meaning: "held, or captured only" },
];

/** By the last answer, and by what the handlers made of the event since, where that is known. */
export function deliveryOutcome(capture: CaptureSummary, work: EventView | undefined): DeliveryOutcome {
  const { status, outcome, error } = capture;
  if (isHeld(capture) || (status === null && error === null)) return "not sent";
  if (capture.notReceived || judgeAnswer(capture) === "bad") return "failed";
  const word = work?.state;
  if (word === "dead" || word === "parked" || word === "retrying") return word;
  if (outcome === "duplicate") return outcome;
  // What was parked at first has been read again since, if its work is known.
  return outcome === "parked" && word === undefined ? outcome : "accepted";
}
