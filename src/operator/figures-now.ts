import { isoTime } from "../base/iso-time.js";
import { LIMITS } from "../protocol/limits.js";
import { failuresInARow } from "../store/failures-in-a-row.js";
import type { ProcessStatus, ReportedStatus } from "../store/figures.js";
import type { StoreOverview } from "../store/inbox-operator.js";
import type { EventPage } from "../store/inbox-view.js";
import { isAlive, worstState } from "../store/process-state.js";

/** How near the service is to switching the endpoint off. */
export interface EndpointHealth {
  /** Answers other than 2xx in a row, of all processes together: after the last 2xx of any. */
  failuresInARow: number;
  /** 100, the service's limit. */
  disablesAt: number;
  /** When a delivery was last stored, ISO 8601; null when the store had none. */
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

/** What a store holds that is not done. */
export interface StoreLevels {
  backlog: {
    pending: number;
    retrying: number;
    running: number;
    dead: number;
    parked: number;
    /** Age of the oldest event with work that waits or runs, in milliseconds; 0 without one. */
    oldestAgeMs: number;
  };
  outbox: { pending: number; running: number; retrying: number; dead: number; oldestAgeMs: number };
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
  const silentForMs = last === undefined ? null : Math.max(0, now - last);
  return {
    state: worstState(alive),
    endpoint: {
      failuresInARow: failuresInARow(statuses),
      disablesAt: LIMITS.disableAfterFailures,
      lastAcceptedAt: isoTime(last),
      silentForMs,
      isSilent: alive.some(({ silenceAfterMs = Number.POSITIVE_INFINITY }) => (silentForMs ?? 0) > silenceAfterMs),
    },
    running: alive.reduce((sum, { runningCount }) => sum + runningCount, 0),
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

export function storeLevels(
  { events, contactEvents }: Pick<StoreOverview, "events" | "contactEvents">,
  now: number,
): StoreLevels {
  const { pending, retrying, running, dead, parked, oldestOpenReceivedAt = now } = events;
  const { oldestRecordedAt = now, ...waiting } = contactEvents;
  return {
    backlog: { pending, retrying, running, dead, parked, oldestAgeMs: Math.max(0, now - oldestOpenReceivedAt) },
    outbox: { ...waiting, oldestAgeMs: Math.max(0, now - oldestRecordedAt) },
  };
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
