import { isoTime } from "../../base/iso-time.js";
import { runTimeEnd } from "../../base/run-time-bounds.js";
import type { OutcomeKind } from "../../protocol/outcome.js";
import type { ErrorGroup } from "../../store/error-groups.js";
import type { FigureSeries, ReportedStatus, RunSeries, RunningNow, StepValues } from "../../store/figures.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { StoreCounts } from "../../store/inbox-view.js";
import { failuresInARow } from "../../store/failures-in-a-row.js";
import { lastAccepted } from "../../store/last-accepted.js";
import type { OutboxCounts } from "../../store/outbox.js";
import type { PausedHandler } from "../../store/paused-handlers.js";
import { groupRecord } from "./group-record.js";
import { isAlive, worstState } from "../../store/process-state.js";

/** So many groups of errors, and so much running work, are read and shown at most. */
const MAX_ROWS = 10;
/** Steps of rates that are shown as a course. */
const COURSE_STEPS = 12;

/** Runs in one step. */
export interface RunRates {
  runs: number;
  failed: number;
  /** 95 % of them took less than this; null beyond the last bound of the times. */
  p95Ms: number | null;
}

/** What happened in one step, of all processes together. */
export interface Rates {
  /** Begin of the step, in milliseconds since 1970. */
  since: number;
  stepMs: number;
  /** Answered deliveries by outcome; outcomes without any are left out. */
  answers: Partial<Record<OutcomeKind, number>>;
  /** Handlers that ran. */
  handlers: (RunRates & { handler: string })[];
  /** Deliveries in the steps up to this one, oldest first; null where nothing is known. */
  course: StepValues;
}

/** A handler that runs, and where. */
export interface RunInProcess extends RunningNow {
  host: string;
  pid: number;
}

/** The state of a receiver's database at one moment. */
export interface Look {
  /** Milliseconds since 1970, by the clock of the database. */
  at: number;
  database: string;
  /** The most serious state of the processes that live; undefined when none reports. */
  receiver: string | undefined;
  /** How many processes report. */
  processes: number;
  /** Answers other than 2xx in a row, of all processes together: after the last 2xx of any. */
  failuresInARow: number;
  /** When a delivery was last stored; undefined when none was. */
  lastAcceptedAt: number | undefined;
  events: StoreCounts;
  contactEvents: OutboxCounts;
  /** Undefined while no process has written any. */
  rates: Rates | undefined;
  /** Handlers that run in all processes, and the longest-running of them, as last reported: up to 10 s ago. */
  runningCount: number;
  running: RunInProcess[];
  paused: readonly PausedHandler[];
  errors: readonly ErrorGroup[];
  hasMoreErrors: boolean;
}

/** What a look reads. */
export type LookedAt = Pick<
  InboxOperator,
  "database" | "overview" | "readFigures" | "readStatuses" | "listPaused" | "listErrorGroups" | "listEvents"
>;

/** Reads the state of a database. */
export async function takeLook(inbox: LookedAt, machineNow: number): Promise<Look> {
  const [{ events, contactEvents }, series, statuses, paused, errors, newest] = await Promise.all([
    inbox.overview(),
    inbox.readFigures("1h"),
    inbox.readStatuses(),
    inbox.listPaused(),
    inbox.listErrorGroups({ limit: MAX_ROWS }),
    inbox.listEvents({ limit: 1 }),
  ]);
  const at = timeWithin(series, machineNow);
  const alive = statuses.filter((status) => isAlive(status, at));
  return {
    at,
    database: inbox.database,
    receiver: alive.length === 0 ? undefined : worstState(alive),
    processes: alive.length,
    failuresInARow: failuresInARow(statuses),
    lastAcceptedAt: lastAccepted(statuses, newest),
    events,
    contactEvents,
    rates: ratesOf(series),
    runningCount: alive.reduce((sum, { runningCount }) => sum + runningCount, 0),
    running: runningOf(alive),
    paused,
    errors: errors.items,
    hasMoreErrors: errors.nextCursor !== undefined,
  };
}

/** The database's clock is in the last step; this machine's may be wrong. */
function timeWithin({ times, stepMs }: FigureSeries, machineNow: number): number {
  const last = times.at(-1) ?? machineNow;
  return Math.min(Math.max(machineNow, last), last + stepMs - 1);
}

/** The longest-running first. */
function runningOf(alive: readonly ReportedStatus[]): RunInProcess[] {
  const all = alive.flatMap(({ host, pid, running }) => running.map((each) => ({ ...each, host, pid })));
  return all.toSorted((one, other) => one.since - other.since).slice(0, MAX_ROWS);
}

/** The last step that is over and that processes have written about. */
function ratesOf({ times, stepMs, answers, handlers, backlog }: FigureSeries): Rates | undefined {
  const kinds = Object.entries(answers);
  const known = [...kinds.map(([, values]) => values), ...handlers.map(({ runs }) => runs), backlog.depth];
  const closed = times.slice(0, -1);
  const place = closed.findLastIndex((_, step) => known.some((values) => (values[step] ?? null) !== null));
  const since = times[place];
  if (since === undefined) return undefined;
  const first = Math.max(0, place + 1 - COURSE_STEPS);
  const inStep = (step: number): number | null => {
    const counts = kinds.map(([, values]) => values[step] ?? null).filter((count) => count !== null);
    return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
  };
  return {
    since,
    stepMs,
    answers: Object.fromEntries(kinds.map(([kind, values]) => [kind, values[place] ?? 0]).filter(([, count]) => count)),
    handlers: handlers
      .map((series) => ({ handler: series.handler, ...runRates(series, place) }))
      .filter(({ runs }) => runs > 0)
      .toSorted((one, other) => other.failed - one.failed || other.runs - one.runs),
    course: times.slice(first, place + 1).map((_, step) => inStep(first + step)),
  };
}

function runRates({ runs, failed, p95FromMs }: RunSeries, place: number): RunRates {
  return {
    runs: runs[place] ?? 0,
    failed: failed[place] ?? 0,
    p95Ms: runTimeEnd(p95FromMs[place] ?? 0) ?? null,
  };
}

/** A look for programs; times are ISO 8601, ages in milliseconds. */
export function lookRecord(look: Look): Record<string, unknown> {
  const { at, events, contactEvents, rates, running, paused, errors } = look;
  const { pending, leased, done, dead, parked, pendingByHandler } = events;
  return {
    at: isoTime(at),
    receiver: look.receiver ?? null,
    processes: look.processes,
    failuresInARow: look.failuresInARow,
    lastAcceptedAt: isoTime(look.lastAcceptedAt),
    events: { pending, leased, done, dead, parked, pendingByHandler, oldestAgeMs: backlogAgeMs(look) },
    contactEvents: {
      pending: contactEvents.pending,
      leased: contactEvents.leased,
      dead: contactEvents.dead,
      oldestAgeMs: outboxAgeMs(look),
    },
    rates: rates === undefined ? null : { ...rates, since: isoTime(rates.since) },
    runningCount: look.runningCount,
    running: running.map(({ since, ...each }) => ({ ...each, since: isoTime(since) })),
    paused: paused.map(({ since, ...each }) => ({ ...each, since: isoTime(since) })),
    errors: errors.map((group) => groupRecord(group)),
    hasMoreErrors: look.hasMoreErrors,
  };
}

/** Age of the oldest event with work that waits or runs; null without one. */
export function backlogAgeMs({ at, events }: Look): number | null {
  const { oldestPendingReceivedAt, oldestLeasedReceivedAt } = events;
  const oldest = Math.min(oldestPendingReceivedAt ?? Infinity, oldestLeasedReceivedAt ?? Infinity);
  return oldest === Infinity ? null : Math.max(0, at - oldest);
}

/** Age of the oldest contact event that is not settled; null without one. */
export function outboxAgeMs({ at, contactEvents: { oldestRecordedAt } }: Look): number | null {
  return oldestRecordedAt === undefined ? null : Math.max(0, at - oldestRecordedAt);
}
