import { SECOND } from "../base/duration.js";
import type { EventWithRuns, FailedRun, FailedRuns, HandlerDetail, HandlerView } from "../store/inbox-view.js";
import { isWaiting } from "../store/state-words.js";
import type { StoredHandler } from "../store/paused-handlers.js";
import type { ContactEventRow } from "../store/outbox.js";

/** One moment in an event's life. */
export interface TimelineEntry {
  kind:
    | "attempt_failed"
    | "attempt_delivered"
    | "signed"
    | "received"
    | "failed"
    | "more_runs"
    | "step_done"
    | "next_run"
    | "running"
    | "waits"
    | "retry_requested"
    | "done"
    | "discarded"
    | "dead"
    | "parked"
    | "contact_event_recorded"
    | "contact_event_settled";
  /** ISO 8601; null where the time is not kept. */
  at: string | null;
  /** Null for what concerns no handler. */
  handler: string | null;
  /** Number of the run; null for what is no run. */
  attempt: number | null;
  /** One line, plain text. */
  text: string;
  /** Longer text, such as an error in full or the answer of the API; null without one. */
  detail: string | null;
  /** Key of the contact event; null for others. */
  key: string | null;
}

/** What a time line is made of beside its event. */
export interface TimelineParts {
  /** Those that its handlers recorded. */
  contactEvents: readonly ContactEventRow[];
  /** What the store knows of handlers, such as which are paused now. */
  known: readonly Pick<StoredHandler, "handler" | "paused">[];
}

/** What is known of an event's life, oldest first. */
export function eventTimeline(event: EventWithRuns, { contactEvents, known }: TimelineParts): TimelineEntry[] {
  const groups = [
    [
      entry("signed", event.signedAt, "The service signed the delivery that was stored."),
      entry("received", event.receivedAt, "Received, verified and stored; answered 200."),
    ],
    ...event.handlers.map((view) => {
      const pause = known.find(({ handler }) => handler === view.handler)?.paused ?? null;
      // It has waited since it came, or since the pause.
      return entriesOfHandler(view, pause && { by: pause.by, since: latest(pause.since, event.receivedAt) });
    }),
    ...contactEvents.map((row) => entriesOfContactEvent(row)),
  ];
  return inOrder(groups);
}

/** Puts attempts of the service before what came after them; each list keeps its order. */
export function mergeTimelines(
  attempts: readonly TimelineEntry[],
  timeline: readonly TimelineEntry[],
): TimelineEntry[] {
  const received = timeOf(timeline.find(({ kind }) => kind === "received"));
  // Nothing is received before the first attempt: then the service's clock is ahead.
  const ahead = Math.max(0, timeOf(attempts[0]) - received) || 0;
  const merged = [...timeline];
  // From the latest on, so that attempts of one time keep their order.
  for (const attempt of attempts.toReversed()) {
    const before = merged.findLastIndex((entry) => isEarlier(entry, timeOf(attempt) - ahead));
    merged.splice(before + 1, 0, attempt);
  }
  return merged;
}

/** NaN without one. */
const timeOf = (entry: TimelineEntry | undefined): number => Date.parse(entry?.at ?? "");

/** One without a time stands before the next one that has one. */
function isEarlier(entry: TimelineEntry, attemptAt: number): boolean {
  // The signature says the second; the attempt that it is of began in it.
  return timeOf(entry) + (entry.kind === "signed" ? SECOND - 1 : 0) < attemptAt;
}

/** ISO 8601 of one length sorts by time. */
const latest = (one: string, other: string): string => (one > other ? one : other);

function entriesOfHandler(view: HandlerDetail, pause: StoredHandler["paused"]): TimelineEntry[] {
  const { handler, state, failed, attempts, retryRequestedAt, steps } = view;
  const of = handler === "" ? "The event" : handler;
  const now = isWaiting(state) && pause !== null ? heldEntry(view, of, pause) : stateOf(view, of);
  const requested = entry("retry_requested", retryRequestedAt, "A retry was requested; the receiver reads it again.");
  return [
    ...(failed === null ? [] : failedRuns(view, failed, of)),
    ...(retryRequestedAt === null ? [] : [{ ...requested, handler }]),
    // The run of a step is not kept.
    ...steps.map(({ name, at }) => ({ ...entry("step_done", at, `${of} has finished the step ${name}.`), handler })),
    { ...now, handler, attempt: attempts === 0 ? null : attempts },
  ];
}

/** The first and the last failed run, and how many were between. */
function failedRuns({ handler }: HandlerView, { first, last }: FailedRuns, of: string): TimelineEntry[] {
  const toEntry = ({ attempt, stack, at }: FailedRun): TimelineEntry => {
    const [line = ""] = stack.split("\n");
    return { ...entry("failed", at, `${of} failed: ${line}`), handler, attempt, detail: stack };
  };
  const between = last.attempt - first.attempt - 1;
  if (between < 0) return [toEntry(first)];
  if (between === 0) return [toEntry(first), toEntry(last)];
  const counted =
    between === 1
      ? `1 more run, number ${first.attempt + 1}`
      : `${between} more runs, numbers ${first.attempt + 1} to ${last.attempt - 1}`;
  const more = entry("more_runs", null, `${of}: ${counted}, of which no error is kept.`);
  return [toEntry(first), { ...more, handler }, toEntry(last)];
}

/** A run that had begun before the pause may have failed after it. Only a later run is due at a time of its own. */
function heldEntry(
  { attempts, dueAt, failed }: HandlerDetail,
  of: string,
  { by, since }: { by: string; since: string },
): TimelineEntry {
  const run = `${attempts === 0 ? "first" : "next"} run${attempts === 0 || dueAt === null ? "" : `, due at ${dueAt},`}`;
  const from = latest(since, failed?.last.at ?? since);
  return entry("waits", from, `${of} is paused by ${by}: its ${run} waits until it is resumed.`);
}

function stateOf(view: HandlerView, of: string): TimelineEntry {
  const { state, attempts, maxAttempts, dueAt, settledAt, reason, error, waitsFor } = view;
  const why = [reason, error].filter((text) => text !== null).join(": ");
  const because = why === "" ? "" : ` (${why})`;
  const held = waitsFor === null ? "" : ` (handler waits: ${waitsFor})`;
  switch (state) {
    case "pending":
    case "retrying":
      if (attempts === 0) return entry("waits", dueAt, `${of} waits for its first run${held}.`);
      return entry(
        "next_run",
        dueAt,
        `${of} runs again, after ${attempts} of ${maxAttempts ?? "its"} attempts${because}${held}.`,
      );
    case "running":
      return entry("running", null, `${of} runs, or waits in a process for a free place${held}.`);
    case "discarded":
      return entry("discarded", settledAt, `${of} was ended without a run${because}.`);
    case "done":
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
    ...entry("contact_event_recorded", recordedAt, `Recorded the contact event ${name}.`),
    key,
  };
  if (settledAt === null) {
    const text = `The contact event ${name} ${attempts === 0 ? "is not sent yet" : `is tried again, after ${triesOf(row)}`}.`;
    return [recorded, { ...entry("waits", dueAt, text), key, detail: error }];
  }
  return [recorded, settledContactEvent(row, settledAt)];
}

function settledContactEvent(row: ContactEventRow, settledAt: string): TimelineEntry {
  const { key, code, param, message, attempts } = row;
  const after = attempts > 1 ? `, after ${triesOf(row)}` : "";
  const answer = [code, param, message].filter((part) => part !== null && part !== "").join(" · ");
  const settled = entry("contact_event_settled", settledAt, `${endOf(row)}${after}.`);
  return { ...settled, key, detail: answer === "" ? null : answer };
}

function endOf(row: ContactEventRow): string {
  const { name, remoteId, reason, state } = row;
  if (state === "done") return `The API took the contact event ${name} as ${remoteId}`;
  if (state === "discarded") return `The contact event ${name} was discarded`;
  return `The contact event ${name} is dead${reason === null ? "" : ` (${reason})`}`;
}

function triesOf({ attempts }: ContactEventRow): string {
  return attempts === 1 ? "1 try" : `${attempts} tries`;
}

function entry(kind: TimelineEntry["kind"], at: string | null, text: string): TimelineEntry {
  return { kind, at, handler: null, attempt: null, text, detail: null, key: null };
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
