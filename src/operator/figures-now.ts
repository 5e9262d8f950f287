import { isoTime } from "../base/iso-time.js";
import { LIMITS } from "../protocol/limits.js";
import type { ProcessStatus, ReportedStatus } from "../store/figures.js";
import type { StoreOverview } from "../store/inbox-operator.js";
import type { EventPage, StoreCounts } from "../store/inbox-view.js";
import type { OutboxCounts } from "../store/outbox.js";
import { isAlive, worstState, failuresInARow } from "../store/process-state.js";

/** How near the service is to switching the endpoint off. */
export interface EndpointHealth {
  /**
   * Answers other than 2xx in a row, those to other senders left out. For the store: of all processes together, after
   * the last 2xx of any. The service switches the endpoint off at `disablesAt`.
   */
  failuresInARow: number;
  /** 100, the service's limit. */
  disablesAt: number;
  /** When a delivery was last stored, ISO 8601, duplicates left out; null when none was. */
  lastAcceptedAt: string | null;
  /** Since then, in milliseconds; null with it. */
  silentForMs: number | null;
  /** True when that is longer than the option `silenceAfterMs` of a receiver. */
  isSilent: boolean;
}

/** What the processes of a store do at a moment. */
export interface ProcessFigures {
  /** The most serious state of the processes that live, such as `running` or `stopping`; `stopped` without one. */
  state: string;
  endpoint: EndpointHealth;
  /** Handlers that run now, of all processes. */
  running: number;
}

/** What a store holds, and for how long it has waited. */
export interface StoreFigures extends Omit<StoreCounts, "oldestOpenReceivedAt" | "oldestDueAt"> {
  /** When the store was counted, ISO 8601; null before the first start of a receiver, when all counts are 0. */
  countedAt: string | null;
  /**
   * Age of the oldest event that is not handled yet, in milliseconds: it waits, waits for a retry, or its handler runs.
   * 0 when all is done.
   */
  oldestPendingAgeMs: number;
  /**
   * The longest time that due work has been waiting for a handler, in milliseconds; 0 when handlers keep up. Handlers
   * that run do not count, nor does work of paused ones. In a process that does not run the handlers of the store, only
   * what waits in the store is seen.
   */
  lagMs: number;
  /** Contact events that wait, are being sent, or are dead; and the age of the oldest unsettled one in milliseconds. */
  outbox: Omit<OutboxCounts, "oldestRecordedAt"> & { oldestAgeMs: number };
}

/** A run of a handler that is not over. */
export interface RunningRow {
  /** Opaque; unique among processes. */
  process: string;
  /** Name of the process's machine. */
  host: string;
  /** Its number on that machine. */
  pid: number;
  handler: string;
  eventId: string;
  /** ISO 8601. */
  since: string;
  /** In milliseconds. */
  forMs: number;
}

/** Takes what all processes said, and a page with the newest event; undefined while the store cannot be read. */
export function processFigures(
  statuses: readonly ReportedStatus[],
  newest: EventPage | undefined,
  now: number,
): ProcessFigures {
  const alive = statuses.filter((status) => isAlive(status, now));
  const last = lastAccepted(statuses, newest);
  const silenceAfterMs = alive.flatMap((status) => status.silenceAfterMs ?? []);
  return {
    state: worstState(alive),
    endpoint: endpointHealth({ failuresInARow: failuresInARow(statuses), lastAcceptedAt: last, silenceAfterMs }, now),
    running: alive.reduce((sum, { runningCount }) => sum + runningCount, 0),
  };
}

/** Of one process or several; times are in milliseconds since 1970. */
export function endpointHealth(
  said: { failuresInARow: number; lastAcceptedAt: number | undefined; silenceAfterMs: readonly number[] },
  now: number,
): EndpointHealth {
  const { failuresInARow: count, lastAcceptedAt, silenceAfterMs } = said;
  const silentForMs = lastAcceptedAt === undefined ? null : Math.max(0, now - lastAcceptedAt);
  return {
    failuresInARow: count,
    disablesAt: LIMITS.disableAfterFailures,
    lastAcceptedAt: isoTime(lastAcceptedAt),
    silentForMs,
    isSilent: silenceAfterMs.some((after) => (silentForMs ?? 0) > after),
  };
}

/**
 * When a delivery was last stored, in milliseconds since 1970; undefined when none was. Takes what all processes said,
 * also those that have ended, and a page with the newest event: a process may end before it says what it has stored,
 * and retention drops events.
 */
function lastAccepted(
  statuses: readonly Pick<ProcessStatus, "lastAcceptedAt">[],
  newest: EventPage | undefined,
): number | undefined {
  const received = newest?.items[0]?.receivedAt;
  const times = [
    received === undefined ? undefined : Date.parse(received),
    ...statuses.map(({ lastAcceptedAt }) => lastAcceptedAt),
  ];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** What was counted, as it is at a moment by the clock that counted. */
export function storeFigures(
  { at, events, contactEvents }: Pick<StoreOverview, "at" | "events" | "contactEvents">,
  now: number,
): StoreFigures {
  const { oldestOpenReceivedAt, oldestDueAt, ...counts } = events;
  const { oldestRecordedAt, ...sends } = contactEvents;
  const ageOf = (time: string | null): number => (time === null ? 0 : Math.max(0, now - Date.parse(time)));
  return {
    ...counts,
    countedAt: at,
    oldestPendingAgeMs: ageOf(oldestOpenReceivedAt),
    lagMs: ageOf(oldestDueAt),
    outbox: { ...sends, oldestAgeMs: ageOf(oldestRecordedAt) },
  };
}

/** The same without what changes with each second, to see whether anything else has changed. */
export function withoutAges({ outbox, oldestPendingAgeMs, ...figures }: StoreFigures) {
  const ages = { countedAt: null, lagMs: 0, oldestPendingAgeMs: oldestPendingAgeMs > 0 };
  return { ...figures, ...ages, outbox: { ...outbox, oldestAgeMs: outbox.oldestAgeMs > 0 } };
}

/** What runs in the processes that live, the longest first, as far as they named it. */
export function runningRows(statuses: readonly ReportedStatus[], now: number): RunningRow[] {
  return statuses
    .filter((status) => isAlive(status, now))
    .flatMap(({ process, host, pid, running }) =>
      running.map((run) => {
        return { process, host, pid, ...run, since: isoTime(run.since), forMs: Math.max(0, now - run.since) };
      }),
    )
    .toSorted((one, other) => other.forMs - one.forMs);
}
