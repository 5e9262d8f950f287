import { NOTE_HANDLER } from "../../base/note-handler.js";
import { outcomeOf } from "../model/answer.js";
import type { Capture, CaptureAttempt, Expectation } from "../model/capture.js";
import { bodyData } from "../model/captured-body.js";
import { isTestDelivery } from "../../protocol/test-delivery.js";

/** The work of one handler on an event, as an inbox shows it. */
export interface InspectedHandler {
  /** Name of the handler. Empty for the note of an event that was parked. */
  handler: string;
  /** `pending`, `running`, `retrying`, `done`, `discarded`, `dead`, `parked`. */
  state: string;
  /** Number of runs so far. */
  attempts: number;
  /** Why it is in that state, as a code; null without one. */
  reason: string | null;
  /** Message of the last error; null without one. */
  error: string | null;
}

/** The work on an event; `unknown` if the inbox does not have it. */
export type FoundWork = readonly InspectedHandler[] | "unknown" | undefined;

/** What became of the event behind its answer: it must not be parked, and each handler must be done or as expected. */
export function checkWork(expectation: Expectation, attempt: CaptureAttempt, found: FoundWork): string[] {
  const isParked = outcomeOf(attempt.headers) === "parked";
  if (found === "unknown" && !isParked) {
    return ["The inbox does not have the event, so it is not that of the app that answered."];
  }
  const work = found === "unknown" ? undefined : found;
  const parked = isParked ? checkParked(expectation, work) : [];
  return work === undefined ? parked : [...parked, ...checkHandlers(expectation, work)];
}

/** An event that no handler got has had no effect, which a test of handlers must not pass over. */
export function checkHasHandler(expectation: Expectation, { event, request }: Capture, found: FoundWork): string[] {
  const isKnown = Array.isArray(found) && found.length === 0;
  if (!isKnown || expectation.handlers !== undefined || isTestDelivery(event.type, bodyData(request.body))) return [];
  return [
    `No handler got the event: none is registered for ${event.type ?? "it"}. If that is intended, write "handlers": {} into the capture's field expect.`,
  ];
}

function checkParked({ outcome, handlers }: Expectation, work: readonly InspectedHandler[] = []): string[] {
  if (outcome === "parked" || handlers?.[NOTE_HANDLER] === "parked") return [];
  const { reason, error } = work.find(({ handler }) => handler === NOTE_HANDLER) ?? {};
  const because = [reason, error].filter((text) => text).join(": ");
  return [
    `The event was parked, since it was not understood, so no handler ran${because === "" ? "." : `: ${because}`}`,
  ];
}

/** Handlers that the expectation names must be in that state, and all others done. */
function checkHandlers({ handlers = {} }: Expectation, work: readonly InspectedHandler[]): string[] {
  const found = work.filter(({ handler }) => handler !== NOTE_HANDLER).map(({ handler }) => [handler, "done"]);
  const wanted: Record<string, string> = { ...Object.fromEntries(found), ...handlers };
  return Object.entries(wanted).flatMap(([name, state]) => {
    const one = work.find(({ handler }) => handler === name);
    if (one?.state === state) return [];
    const what = name === NOTE_HANDLER ? "The event" : `Handler ${name}`;
    return [
      one === undefined ? `${what} did not get the event.` : `${what} ${describeState(one)}, expected ${state}`,
    ].map((text) => (one === undefined || one.error === null ? text : `${text}: ${one.error}`));
  });
}

function describeState({ state }: InspectedHandler): string {
  return state === "running" ? "is running, so it has not ended in time" : `is ${state}`;
}
