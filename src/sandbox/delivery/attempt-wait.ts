import type { Clock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, defineOptions, given, readBy } from "../../base/options.js";
import { checkPattern } from "../../protocol/event-pattern.js";
import { type AttemptFilter, type AttemptLog, matchesFilter } from "./attempt-log.js";
import type { AttemptRow } from "./attempt-row.js";
import type { EventWaiter } from "./event-waiter.js";

/** The filter for an attempt to wait for. */
export interface AttemptWait extends AttemptFilter {
  /** A class of answers, one status, or `"none"` for no answer. @default any */
  answered?: "2xx" | "3xx" | "4xx" | "5xx" | "none" | number | undefined;
  /** Longest wait, in milliseconds of the sandbox's clock. @default 10 s of real time, or 56 h with a manual clock */
  timeoutMs?: number | undefined;
}

const FILTER_ROWS = {
  endpointId: given(),
  eventId: given(),
  type: readBy(checkType),
  status: given(),
  kind: given(),
  sinceMs: given(),
  untilMs: given(),
} satisfies OptionsOf<AttemptFilter>;

/**
 * The fields of {@link AttemptFilter}. An unknown one that was ignored would make the filter match more than intended,
 * and a type that is no pattern would match nothing.
 */
export const FILTER_OPTIONS = defineOptions("sandbox.deliveries", FILTER_ROWS);
/** The fields of {@link AttemptWait}; the time is checked where it is used. */
export const WAIT_OPTIONS = defineOptions("sandbox.waitFor", {
  ...FILTER_ROWS,
  answered: readBy(checkAnswered),
  timeoutMs: given(),
} satisfies OptionsOf<AttemptWait>);

function checkType(option: string, type: string | undefined): string | undefined {
  if (type !== undefined) checkPattern(type, option);
  return type;
}

function checkAnswered(option: string, answered: AttemptWait["answered"]): AttemptWait["answered"] {
  if (answered === undefined || typeof answered === "number" || ANSWERS.includes(answered)) return answered;
  throw new PigeonholeError("invalid_option", `${option} must be a status or one of ${ANSWERS.join(", ")}.`);
}

const ANSWERS: readonly unknown[] = ["2xx", "3xx", "4xx", "5xx", "none"];

interface Waiting {
  waiter: EventWaiter<AttemptRow>;
  log: AttemptLog;
  clock: Clock;
  timeoutMs: number;
}

/** The first attempt in the log that matches, or the next one that follows. Rejects like the waiter. */
export function waitForAttempt(
  { answered, ...filter }: AttemptWait,
  { waiter, log, clock, timeoutMs }: Waiting,
): Promise<AttemptRow> {
  const fits = (row: AttemptRow): boolean => matchesFilter(row, filter) && matchesAnswer(row, answered);
  const stored = log.list(filter).map(({ row }) => row);
  return waiter.wait({ stored, fits, timeoutMs, clock, timeoutText: () => timeoutText(timeoutMs, log) });
}

/** Returns it, or throws `invalid_argument` if no wait can be that long. */
export function checkTimeout(timeoutMs: number): number {
  if (timeoutMs >= 0 && timeoutMs < Infinity) return timeoutMs;
  throw new PigeonholeError("invalid_argument", `timeoutMs must be milliseconds from 0 on, got ${String(timeoutMs)}.`);
}

function matchesAnswer({ responseCode }: AttemptRow, answered: AttemptWait["answered"]): boolean {
  if (answered === undefined) return true;
  if (typeof answered === "number") return responseCode === answered;
  if (answered === "none") return responseCode === null;
  return responseCode !== null && `${Math.floor(responseCode / 100)}xx` === answered;
}

const MAX_SHOWN = 5;

function timeoutText(timeoutMs: number, log: AttemptLog): string {
  const rows = log.list();
  const shown = rows
    .slice(-MAX_SHOWN)
    .map(({ row }) => `${row.eventType} attempt ${row.attempt}: ${row.error ?? `HTTP ${row.responseCode}`}`);
  const seen = rows.length === 0 ? "No attempt was made at all." : `Last of ${rows.length}: ${shown.join("; ")}.`;
  return `No such attempt within ${timeoutMs} ms of the sandbox's clock. ${seen}`;
}
