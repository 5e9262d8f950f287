import { hostname } from "node:os";
import type { Clock } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import { isoTime } from "../base/iso-time.js";
import { LIMITS } from "../protocol/limits.js";
import type { ReceiverParts } from "../receiver/receiver-parts.js";
import type { FigureSeries, ReportedStatus, StepValues } from "../store/figures.js";
import type { DashboardNow, EndpointHealth, ProcessRow, RunningRow, RunningWork } from "./dashboard-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { pausedRow } from "./handler-routes.js";

/** A process reports at least once a minute. */
const LIVES_MS = 2 * MINUTE;
/** Counts are kept for so many times as long as counting took: it takes longer than the rest where much is pending. */
const KEPT_TIMES = 20;
const MIN_KEPT_MS = 900;

type Counts = Awaited<ReturnType<InboxOperator["overview"]>>;
type Disk = DashboardNow["disk"];

/** What the reader looks at besides the store. */
export interface NowReaderTools {
  operator: () => InboxOperator;
  receiver: Pick<ReceiverParts, "path">;
  clock: Clock;
}

/** Reads the state of all processes of a store, of this one as it is in memory. */
export class NowReader {
  readonly #tools: NowReaderTools;
  #counts: { until: number; counts: Promise<Counts> } | undefined;
  #disk: { reportedAt: number; disk: Disk } = { reportedAt: -1, disk: { usedBytes: null, freeBytes: null } };

  constructor(tools: NowReaderTools) {
    this.#tools = tools;
  }

  async read(): Promise<DashboardNow> {
    const { operator, receiver, clock } = this.#tools;
    const now = clock.now();
    const [counts, statuses, paused] = await Promise.all([
      this.#count(now),
      this.#tools.operator().readStatuses(),
      operator().listPaused(),
    ]);
    const alive = statuses.filter(({ reportedAt }) => now - reportedAt < LIVES_MS);
    return {
      at: isoTime(now),
      state: worstState(receiver.path.admission.state, alive),
      processes: this.#processes(statuses, now),
      endpoint: this.#endpoint(alive, now),
      ...gauges(counts, now),
      disk: await this.#readDisk(statuses),
      paused: paused.map((each) => pausedRow(each, counts.events)),
      running: alive.reduce((sum, { runningCount }) => sum + runningCount, 0),
    };
  }

  /** The longest-running first. */
  async running(): Promise<RunningWork> {
    const now = this.#tools.clock.now();
    const alive = (await this.#tools.operator().readStatuses()).filter(({ reportedAt }) => now - reportedAt < LIVES_MS);
    const items = alive.flatMap(({ process, running }) => running.map((each) => runningRow(process, each, now)));
    const count = alive.reduce((sum, { runningCount }) => sum + runningCount, 0);
    return { items: items.toSorted((one, other) => other.forMs - one.forMs), hasMore: count > items.length };
  }

  /** When a process last reported, in milliseconds since 1970; 0 before one did. */
  get lastReportAt(): number {
    return Math.max(0, this.#disk.reportedAt);
  }

  #count(now: number): Promise<Counts> {
    if (this.#counts !== undefined && now < this.#counts.until) return this.#counts.counts;
    const kept = { until: Number.POSITIVE_INFINITY, counts: this.#tools.operator().overview() };
    this.#counts = kept;
    const ended = (): void => {
      const { clock } = this.#tools;
      kept.until = now + Math.max(MIN_KEPT_MS, KEPT_TIMES * (clock.now() - now));
    };
    // One that failed is not kept.
    kept.counts.then(ended, () => (this.#counts = undefined));
    return kept.counts;
  }

  #processes(statuses: readonly ReportedStatus[], now: number): ProcessRow[] {
    const { admission, report } = this.#tools.receiver.path;
    const rows = statuses.map((status) => processRow(status, now));
    const live = { state: admission.state, failuresInARow: report.watch.failuresInARow };
    return rows
      .map((row) => (row.isThis ? { ...row, ...live } : row))
      .toSorted((one, other) => Number(other.isThis) - Number(one.isThis));
  }

  #endpoint(alive: readonly ReportedStatus[], now: number): EndpointHealth {
    const { watch } = this.#tools.receiver.path.report;
    const last = Math.max(watch.lastAcceptedAt ?? 0, ...alive.map(({ lastAcceptedAt = 0 }) => lastAcceptedAt));
    const silentForMs = last === 0 ? null : Math.max(0, now - last);
    const others = alive.filter((status) => !isThisProcess(status)).map(({ failuresInARow }) => failuresInARow);
    return {
      failuresInARow: Math.max(watch.failuresInARow, ...others),
      disablesAt: LIMITS.disableAfterFailures,
      lastAcceptedAt: last === 0 ? null : isoTime(last),
      silentForMs,
      isSilent: alive.some(({ silenceAfterMs = Number.POSITIVE_INFINITY }) => (silentForMs ?? 0) > silenceAfterMs),
    };
  }

  /** Read again once a process has reported. */
  async #readDisk(statuses: readonly ReportedStatus[]): Promise<Disk> {
    const reportedAt = Math.max(0, ...statuses.map((status) => status.reportedAt));
    if (reportedAt !== this.#disk.reportedAt) {
      const series = await this.#tools.operator().readFigures("1h");
      this.#disk = { reportedAt, disk: lastDisk(series) };
    }
    return this.#disk.disk;
  }
}

function gauges({ events, contactEvents }: Counts, now: number): Pick<DashboardNow, "backlog" | "outbox"> {
  const { pending, leased, dead, parked, oldestPendingReceivedAt, oldestLeasedReceivedAt } = events;
  const oldest = Math.min(oldestPendingReceivedAt ?? now, oldestLeasedReceivedAt ?? now);
  const { oldestRecordedAt = now, ...waiting } = contactEvents;
  return {
    backlog: { pending, leased, dead, parked, oldestAgeMs: Math.max(0, now - oldest) },
    outbox: { ...waiting, oldestAgeMs: Math.max(0, now - oldestRecordedAt) },
  };
}

/** From the least to the most serious, as far as they are of a process that lives. */
const STATES = ["running", "new", "starting", "stopping", "stopped"];

function worstState(own: string, alive: readonly ReportedStatus[]): string {
  const states = [own, ...alive.filter((status) => !isThisProcess(status)).map(({ state }) => state)];
  return states.reduce((worst, state) => (STATES.indexOf(state) > STATES.indexOf(worst) ? state : worst));
}

function processRow(status: ReportedStatus, now: number): ProcessRow {
  const { process, host, pid, role, state, startedAt, reportedAt, failuresInARow, runningCount } = status;
  return {
    process,
    host,
    pid,
    role,
    state,
    startedAt: isoTime(startedAt),
    reportedAt: isoTime(reportedAt),
    isThis: isThisProcess(status),
    isAlive: now - reportedAt < LIVES_MS,
    failuresInARow,
    running: runningCount,
  };
}

function isThisProcess({ host, pid }: ReportedStatus): boolean {
  return pid === process.pid && host === hostname();
}

function runningRow(
  process: string,
  { handler, eventId, since }: ReportedStatus["running"][number],
  now: number,
): RunningRow {
  return { process, handler, eventId, since: isoTime(since), forMs: Math.max(0, now - since) };
}

function lastDisk({ disk }: FigureSeries): Disk {
  const last = (values: StepValues): number | null => values.findLast((value) => value !== null) ?? null;
  return { usedBytes: last(disk.usedBytes), freeBytes: last(disk.freeBytes) };
}
