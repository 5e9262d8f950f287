import { isoTime } from "../base/iso-time.js";
import { wordOfContactEvent } from "./contact-event-word.js";
import type { EventDetail, FailedRun, FailedRuns, HandlerDetail } from "../store/inbox-view.js";
import type { StoredHandler } from "../store/paused-handlers.js";
import type { ContactEventRow } from "./inbox-rows.js";
import type { ShownStep, TimelineEntry } from "./timeline-entry.js";

/** Why work waits, and since when, in milliseconds since 1970. */
interface Pause {
  by: string;
  since: number;
}

/** What a time line is made of beside its event. */
export interface TimelineParts {
  /** Those that its handlers have finished. */
  steps: readonly ShownStep[];
  /** Those that its handlers recorded. */
  contactEvents: readonly ContactEventRow[];
  /** What the store knows of handlers, such as which are paused now. */
  known: readonly Pick<StoredHandler, "handler" | "paused">[];
  /** Removes from errors what must not be seen of the payload that they may quote. */
  show: (error: string) => string;
}

/** What is known of an event's life, oldest first. */
export function eventTimeline(
  event: EventDetail,
  { steps, contactEvents, known, show }: TimelineParts,
): TimelineEntry[] {
  const groups = [
    [
      entry("signed", event.signedAt, "The service signed the delivery that was stored."),
      entry("received", event.receivedAt, "Received, verified and stored; answered 200."),
    ],
    ...event.handlers.map((view) => {
      const pause = known.find(({ handler }) => handler === view.handler)?.paused ?? undefined;
      // It has waited since it came, or since the pause.
      const held = pause && { by: pause.by, since: Math.max(Date.parse(pause.since), event.receivedAt) };
      return entriesOfHandler(view, { show, held, steps: steps.filter(({ handler }) => handler === view.handler) });
    }),
    ...contactEvents.map((row) => entriesOfContactEvent(row)),
  ];
  return inOrder(groups);
}

interface HandlerParts extends Pick<TimelineParts, "steps" | "show"> {
  held: Pause | undefined;
}

function entriesOfHandler(view: HandlerDetail, { show, held, steps }: HandlerParts): TimelineEntry[] {
  const { handler, state, failed, attempts, retryRequestedAt } = view;
  const of = handler === "" ? "The event" : handler;
  const now = state === "pending" && held !== undefined ? heldEntry(view, of, held) : stateOf(view, of, show);
  return [
    ...(failed === undefined ? [] : failedRuns(view, failed, of, show)),
    ...(retryRequestedAt === undefined
      ? []
      : [
          {
            ...entry("retry_requested", retryRequestedAt, "A retry was requested; the receiver reads it again."),
            handler,
          },
        ]),
    ...steps.map((step) => finishedStep(step, of)),
    { ...now, handler, attempt: attempts === 0 ? null : attempts },
  ];
}

/** Its run is not kept. */
function finishedStep({ handler, name, at }: ShownStep, of: string): TimelineEntry {
  return { ...entry("step_done", Date.parse(at), `${of} has finished the step ${name}.`), handler };
}

/** The first and the last failed run, and how many were between. */
function failedRuns(
  view: HandlerDetail,
  { first, last }: FailedRuns,
  of: string,
  show: (text: string) => string,
): TimelineEntry[] {
  const { handler } = view;
  const toEntry = ({ attempt, stack, at }: FailedRun): TimelineEntry => {
    const [line = ""] = show(stack).split("\n");
    const failed = entry("failed", at, `${of} failed: ${line}`);
    return { ...failed, handler, attempt, detail: show(stack) };
  };
  const between = last.attempt - first.attempt - 1;
  if (between < 0) return [toEntry(first)];
  if (between === 0) return [toEntry(first), toEntry(last)];
  const counted =
    between === 1
      ? `1 more run, number ${first.attempt + 1}`
      : `${between} more runs, numbers ${first.attempt + 1} to ${last.attempt - 1}`;
  const more = entry("more_runs", undefined, `${of}: ${counted}, of which no error is kept.`);
  return [toEntry(first), { ...more, handler }, toEntry(last)];
}

/** A run that had begun before the pause may have failed after it. Only a later run is due at a time of its own. */
function heldEntry({ attempts, dueAt, failed }: HandlerDetail, of: string, { by, since }: Pause): TimelineEntry {
  const due = attempts === 0 || dueAt === undefined ? "" : `, due at ${new Date(dueAt).toISOString()},`;
  const run = `${attempts === 0 ? "first" : "next"} run${due}`;
  const from = Math.max(since, failed?.last.at ?? since);
  return entry("waits", from, `${of} is paused by ${by}: its ${run} waits until it is resumed.`);
}

function stateOf(view: HandlerDetail, of: string, show: (text: string) => string): TimelineEntry {
  const { state, attempts, maxAttempts, dueAt, settledAt, reason, error, discarded, waitsFor } = view;
  const why = [reason, error === undefined ? undefined : show(error)].filter((text) => text !== undefined).join(": ");
  const because = why === "" ? "" : ` (${why})`;
  const held = waitsFor === undefined ? "" : ` (handler waits: ${waitsFor})`;
  switch (state) {
    case "pending":
      if (attempts === 0) return entry("waits", dueAt, `${of} waits for its first run${held}.`);
      return entry(
        "next_run",
        dueAt,
        `${of} runs again, after ${attempts} of ${maxAttempts ?? "its"} attempts${because}${held}.`,
      );
    case "leased":
      return entry("running", undefined, `${of} runs, or waits in a process for a free place${held}.`);
    case "done":
      if (discarded) return entry("discarded", settledAt, `${of} was ended without a run${because}.`);
      return entry("done", settledAt, `${of} is done.`);
    case "dead":
      return entry(
        "dead",
        settledAt,
        `${of} gave up after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}${because}.`,
      );
    case "parked":
      return entry("parked", settledAt, `${of} is parked${because}.`);
  }
}

function entriesOfContactEvent(row: ContactEventRow): TimelineEntry[] {
  const { key, name, recordedAt, settledAt, dueAt, error, attempts } = row;
  const recorded = {
    ...entry("contact_event_recorded", Date.parse(recordedAt), `Recorded the contact event ${name}.`),
    key,
  };
  if (settledAt === null) {
    const text = `The contact event ${name} ${attempts === 0 ? "is not sent yet" : `is tried again, after ${triesOf(row)}`}.`;
    const next = dueAt === null ? undefined : Date.parse(dueAt);
    return [recorded, { ...entry("waits", next, text), key, detail: error }];
  }
  return [recorded, settledContactEvent(row, settledAt)];
}

function settledContactEvent(row: ContactEventRow, settledAt: string): TimelineEntry {
  const { key, code, param, message, attempts } = row;
  const after = attempts > 1 ? `, after ${triesOf(row)}` : "";
  const answer = [code, param, message].filter((part) => part !== null && part !== "").join(" · ");
  const settled = entry("contact_event_settled", Date.parse(settledAt), `${endOf(row)}${after}.`);
  return { ...settled, key, detail: answer === "" ? null : answer };
}

function endOf(row: ContactEventRow): string {
  const { name, remoteId, reason } = row;
  switch (wordOfContactEvent(row)) {
    case "done":
      return `The API took the contact event ${name}${remoteId === null ? "" : ` as ${remoteId}`}`;
    case "discarded":
      return `The contact event ${name} was discarded`;
    default:
      return `The contact event ${name} is dead${reason === null ? "" : ` (${reason})`}`;
  }
}

function triesOf({ attempts }: ContactEventRow): string {
  return attempts === 1 ? "1 try" : `${attempts} tries`;
}

function entry(kind: TimelineEntry["kind"], at: number | undefined, text: string): TimelineEntry {
  return { kind, at: isoTime(at), handler: null, attempt: null, text, detail: null, key: null };
}

interface PlacedEntry {
  each: TimelineEntry;
  /** Where it stands, in milliseconds since 1970. */
  at: number;
}

/** Of what has the same time, steps are first: the run that failed after them may have ended in that millisecond. */
function inOrder(groups: readonly (readonly TimelineEntry[])[]): TimelineEntry[] {
  return groups
    .flatMap(placesOf)
    .toSorted((one, other) => (one.at === other.at ? rankOf(one.each) - rankOf(other.each) : one.at - other.at))
    .map(({ each }) => each);
}

/** Those without a time stay before the next one of their group that has one, and at the end without one. */
function placesOf(group: readonly TimelineEntry[]): PlacedEntry[] {
  let next = Number.POSITIVE_INFINITY;
  const placed = group.toReversed().map((each) => {
    if (each.at !== null) next = Date.parse(each.at);
    return { each, at: next };
  });
  return placed.toReversed();
}

function rankOf({ kind }: TimelineEntry): number {
  return kind === "step_done" ? 0 : 1;
}
