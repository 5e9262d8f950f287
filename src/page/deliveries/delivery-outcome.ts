import { judgeAnswer } from "../../capture/model/answer.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { isHeld } from "../../dev/forward/held-tag.js";

/** What became of a delivery, in one word. */
export type DeliveryOutcome = "accepted" | "duplicate" | "parked" | "failed" | "not sent";

/** The outcomes as the chart stacks them, from the bottom. */
export const DELIVERY_OUTCOMES: readonly { name: DeliveryOutcome; tone: string; meaning: string }[] = [
  { name: "accepted", tone: "good", meaning: "answered 2xx" },
  { name: "duplicate", tone: "accent", meaning: "answered 2xx: the receiver had the event already" },
  { name: "parked", tone: "warn", meaning: "answered 2xx, and kept without being understood" },
  { name: "failed", tone: "bad", meaning: "no answer, or another one than 2xx" },
  { name: "not sent", tone: "mute", meaning: "held, or captured only" },
];

/** By the last answer. */
export function deliveryOutcome(capture: CaptureSummary): DeliveryOutcome {
  const { status, outcome, error } = capture;
  if (isHeld(capture) || (status === null && error === null)) return "not sent";
  if (judgeAnswer(capture) === "bad") return "failed";
  return outcome === "parked" || outcome === "duplicate" ? outcome : "accepted";
}
