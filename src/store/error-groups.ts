import { HOUR, MINUTE } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { isoTime } from "../base/iso-time.js";
import { escapeControls } from "../base/text.js";
import { type ErrorGroupKey, toErrorGroupId } from "./error-group-id.js";
import { errorKeyOf, errorKindOf } from "./error-kind.js";
import { pageLimit } from "./inbox-view.js";
import type { FailedState } from "./state-words.js";

/** Which groups of errors. */
export interface ErrorGroupQuery {
  /** Name of the handler. @default all */
  handler?: string | undefined;
  /** Type of the events. @default all */
  type?: string | undefined;
  /** Only work in this state. @default all */
  state?: FailedState | undefined;
  /** Only work that failed last at this time or later, in milliseconds since 1970. @default all */
  since?: number | undefined;
  /** Only work that failed last before this time, in milliseconds since 1970. @default all */
  until?: number | undefined;
  /** Length of a step of {@link ErrorGroup.steps} in milliseconds, at least a minute. @default 1 hour */
  stepMs?: number | undefined;
  /** Most groups. @default 50 */
  limit?: number | undefined;
  /** `nextCursor` of the page before. @default the first page */
  cursor?: string | null | undefined;
}

/**
 * Unfinished work of one handler with events of one type that failed the same way last. Work that is done, discarded or
 * retried by a person is in no group.
 */
export interface ErrorGroup {
  /** Chooses exactly this work, as `errorGroup` of a choice. Stays the same. */
  id: string;
  /** Name of the handler; empty for events that were not understood. */
  handler: string;
  /** Type of the events; empty for bodies in which none was found. */
  type: string;
  /** Name or code of the error, such as `TypeError` or `unknown_type`. */
  kind: string;
  /** Its message, with `…` in place of numbers, ids, addresses and quoted text. */
  message: string;
  /** Events in the group; each has one piece of work in it. Counts go up to {@link COUNTED_EVENTS}. */
  events: number;
  /** True when there are more events than are counted; then the oldest of them are left out of all numbers here. */
  isCapped: boolean;
  /** Runs of them that failed so far. */
  failures: number;
  /** How many of the events are in which state. */
  states: Record<FailedState, number>;
  /** When the first of the events was received, ISO 8601. */
  firstAt: string;
  /** When one of them failed last, ISO 8601. */
  lastAt: string;
  /** Events by when they failed last, oldest step first, without empty steps. `at`: begin of the step, ISO 8601. */
  steps: { at: string; events: number }[];
  /** The event that failed last, and its error as it was. */
  example: {
    /** Id of the event. */
    id: string;
    state: FailedState;
    error: string | null;
    reason: string | null;
  };
}

/** Groups of errors, those that failed last first. */
export interface ErrorGroupList {
  /** The groups, as many as were asked for at most. */
  items: ErrorGroup[];
  /**
   * Pass it back as `cursor` for the next page; null on the last one. A group that fails again meanwhile is before
   * it, and one whose last failure is gone may come again.
   */
  nextCursor: string | null;
}

/** So many events of a group are counted at most, the newest failures first: a list stays fast whatever has failed. */
export const COUNTED_EVENTS = 50_000;

/** What groups errors in a store. */
export interface ErrorGroups {
  /** The groups that fit the query, those that failed last first. */
  listErrorGroups(query?: ErrorGroupQuery): Promise<ErrorGroupList>;
}

/** So many groups are looked at one by one. Where there are more, all that failed is read for the newest groups. */
export const SOUGHT_GROUPS = 1_000;

/** So many of the newest pieces are looked at for an example. */
export const SOUGHT_EXAMPLES = 5;

/** Where a page of groups begins, those that failed last first. It names no group: ids are digests of messages. */
export interface GroupPlace {
  /** Groups that failed last at this time or before, in milliseconds since 1970. */
  fromAt: number;
  /** Of those that failed last at just this time, so many were listed before. */
  behind: number;
}

/** Throws `invalid_argument` for what is no cursor. */
function readGroupCursor(cursor: string | null | undefined): GroupPlace {
  if (cursor === undefined || cursor === null) return { fromAt: Number.MAX_SAFE_INTEGER, behind: 0 };
  const [, fromAt, behind] = /^(\d{1,15})-(\d{1,7})$/.exec(cursor) ?? [];
  if (fromAt !== undefined) return { fromAt: Number(fromAt), behind: Number(behind) };
  throw new PigeonholeError("invalid_argument", "cursor must be the nextCursor of an earlier page.");
}

/** The query with its defaults, as parameters of SQL; null means any. */
export interface ErrorGroupParameters extends GroupPlace {
  handler: string | null;
  type: string | null;
  state: FailedState | null;
  since: number;
  until: number;
  stepMs: number;
  limit: number;
}

/** Throws `invalid_argument` for a limit or a cursor that cannot be. */
export function errorGroupParameters(query: ErrorGroupQuery): ErrorGroupParameters {
  return {
    handler: query.handler ?? null,
    type: query.type ?? null,
    state: query.state ?? null,
    since: query.since ?? 0,
    until: query.until ?? Number.MAX_SAFE_INTEGER,
    stepMs: Math.max(MINUTE, Math.floor(query.stepMs ?? HOUR)),
    limit: pageLimit.read("limit", query.limit),
    ...readGroupCursor(query.cursor),
  };
}

/** Work of a group in one state that failed last in the same step; `firstAt` is when its oldest event was received. */
export interface CountedFailures {
  state: ErrorGroup["example"]["state"];
  /** Number of the step. */
  step: number;
  events: number;
  failures: number;
  firstAt: number;
  lastAt: number;
}

/** A piece of work of a group. */
export interface FailureExample {
  id: string;
  state: ErrorGroup["example"]["state"];
  reason: string | null;
  error: string | null;
}

/** What was read of a group. */
interface GroupParts {
  counts: readonly CountedFailures[];
  /** The newest first. */
  examples: readonly FailureExample[];
  stepMs: number;
}

/** A group by what was read of it; undefined when nothing fits the query. */
export function toErrorGroup(key: ErrorGroupKey, { counts, examples, stepMs }: GroupParts): ErrorGroup | undefined {
  // An error that a stop has replaced is of another kind.
  const example = examples.find((each) => keyOf(each) === key.groupKey) ?? examples[0];
  if (example === undefined || counts.length === 0) return undefined;
  const events = sumOf(counts, "events");
  const { kind, message } = errorKindOf({ ...example, isParked: example.state === "parked" });
  return {
    id: toErrorGroupId(key),
    handler: key.groupHandler,
    type: key.groupType,
    kind: escapeControls(kind),
    message: escapeControls(message),
    events,
    isCapped: events > COUNTED_EVENTS,
    failures: sumOf(counts, "failures"),
    states: statesOf(counts),
    firstAt: isoTime(Math.min(...counts.map((each) => each.firstAt))),
    lastAt: isoTime(Math.max(...counts.map((each) => each.lastAt))),
    steps: stepsOf(counts, stepMs),
    example,
  };
}

const keyOf = (example: FailureExample): string => errorKeyOf({ ...example, isParked: example.state === "parked" });

function sumOf(counts: readonly CountedFailures[], field: "events" | "failures"): number {
  return counts.reduce((sum, count) => sum + count[field], 0);
}

function statesOf(counts: readonly CountedFailures[]): ErrorGroup["states"] {
  const states = { retrying: 0, running: 0, dead: 0, parked: 0 };
  for (const { state, events } of counts) states[state] += events;
  return states;
}

function stepsOf(counts: readonly CountedFailures[], stepMs: number): ErrorGroup["steps"] {
  const bySteps = new Map<number, number>();
  for (const { step, events } of counts) bySteps.set(step, (bySteps.get(step) ?? 0) + events);
  return [...bySteps].toSorted(([a], [b]) => a - b).map(([step, events]) => ({ at: isoTime(step * stepMs), events }));
}
