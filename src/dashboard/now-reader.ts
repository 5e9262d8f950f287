import type { Clock } from "../base/clock.js";
import { isoTime } from "../base/iso-time.js";
import type { ReceiverParts } from "../receiver/receiver-parts.js";
import { type ReportedStatus, type StepValues, FIGURE_RANGES } from "../store/figures.js";
import { stepAt } from "../store/figure-rows.js";
import { alarmRow } from "./alarm-row.js";
import type { ProcessRow, RunningWork, StateNow, StoreTrouble } from "./state-now.js";
import { type ProcessFigures, processFigures, runningRows, storeFigures } from "../operator/figures-now.js";
import type { EventPage } from "../store/inbox-view.js";
import { isAlive, isEnded } from "../store/process-state.js";
import { pausedRow } from "../web/handler-routes.js";
import type { JobRunner } from "./job-runner.js";
import type { SharedReadings } from "../web/shared-readings.js";
import type { StoreOrMemory } from "./store-or-memory.js";

type Disk = StateNow["disk"];

/** What the reader looks at besides the store. */
export interface NowReaderTools {
  readings: Pick<SharedReadings, "count" | "readStatuses" | "listHandlers" | "listEvents" | "readFigures">;
  receiver: Pick<ReceiverParts, "inStore" | "path">;
  storeOrMemory: StoreOrMemory;
  jobs: Pick<JobRunner, "trouble">;
  clock: Clock;
}

/** What the processes said, and the store has. */
interface Reported {
  /** This process comes first. */
  statuses: readonly ReportedStatus[];
  /** A page with the newest event; undefined while the store cannot be read. */
  newest: EventPage | undefined;
  now: number;
}

/** Reads the state of all processes of a store, of this one as it is in memory. */
export class NowReader {
  readonly #tools: NowReaderTools;
  #lastReportAt = 0;
  #disk: { reportedAt: number; disk: Disk } = { reportedAt: -1, disk: { usedBytes: null, freeBytes: null } };

  constructor(tools: NowReaderTools) {
    this.#tools = tools;
  }

  /** Rejects with `stopped` only. */
  read(): Promise<StateNow> {
    return this.#tools.storeOrMemory.read(
      () => this.readStore(),
      (trouble) => this.readMemory(trouble),
    );
  }

  /** What this process knows without the store. */
  readMemory(trouble: StoreTrouble): StateNow {
    const now = this.#tools.clock.now();
    const own = this.#ownStatus(now);
    // Its figures are shown step by step too.
    this.#lastReportAt = stepAt(now, FIGURE_RANGES["1h"].stepMs);
    return {
      ...this.#processes({ statuses: [own], newest: undefined, now }),
      trouble,
      store: null,
      countedAgoMs: 0,
      disk: { usedBytes: null, freeBytes: null },
      paused: [],
    };
  }

  /** Rejects as the store does. */
  async readStore(): Promise<StateNow> {
    const now = this.#tools.clock.now();
    const { readings } = this.#tools;
    const [statuses, handlers, newest] = await Promise.all([
      this.#statuses(now),
      readings.listHandlers(),
      readings.listEvents({ limit: 1 }),
    ]);
    // How long it takes is measured: the start of a thread, or a connection, is no part of it.
    const { value: counts, at: countedAt } = await readings.count();
    return {
      ...this.#processes({ statuses, newest, now }),
      trouble: null,
      store: storeFigures(counts, now),
      countedAgoMs: Math.max(0, now - countedAt),
      disk: await this.#readDisk(),
      paused: handlers.flatMap((each) => pausedRow(each, counts.events) ?? []),
    };
  }

  /** The longest-running first; of this process alone while the store cannot be read. */
  async running(): Promise<RunningWork> {
    const { clock, storeOrMemory } = this.#tools;
    const now = clock.now();
    const statuses = await storeOrMemory.read(
      () => this.#statuses(now),
      () => [this.#ownStatus(now)],
    );
    const items = runningRows(statuses, now);
    return { items, hasMore: processFigures(statuses, undefined, now).running > items.length };
  }

  #processes({
    statuses,
    newest,
    now,
  }: Reported): Pick<StateNow, keyof ProcessFigures | "at" | "jobTrouble" | "alarms" | "processes" | "repair"> {
    return {
      ...processFigures(statuses, newest, now),
      at: isoTime(now),
      jobTrouble: this.#tools.jobs.trouble,
      alarms: this.#tools.receiver.path.report.alarms.recent.map(alarmRow),
      processes: statuses
        .filter((status) => !isEnded(status))
        .map((status, place) => processRow(status, { now, isThis: place === 0 })),
      repair: this.#tools.receiver.inStore.counter.figures.repair,
    };
  }

  #ownStatus(now: number): ReportedStatus {
    return { ...this.#tools.receiver.inStore.figures.status, reportedAt: now };
  }

  /** When a process last reported, in milliseconds since 1970, or the step shown from memory began; 0 before. */
  get lastReportAt(): number {
    return this.#lastReportAt;
  }

  /** This process as it is in memory, and first; the others as they last reported. */
  async #statuses(now: number): Promise<ReportedStatus[]> {
    const own = this.#ownStatus(now);
    const statuses = await this.#tools.readings.readStatuses();
    this.#lastReportAt = Math.max(0, ...statuses.map(({ reportedAt }) => reportedAt));
    return [own, ...statuses.filter(({ process }) => process !== own.process)];
  }

  /** Read again once a process has reported. */
  async #readDisk(): Promise<Disk> {
    if (this.#lastReportAt !== this.#disk.reportedAt) {
      const { disk } = await this.#tools.readings.readFigures("1h");
      const last = (values: StepValues): number | null => values.findLast((value) => value !== null) ?? null;
      const found = { usedBytes: last(disk.usedBytes), freeBytes: last(disk.freeBytes) };
      this.#disk = { reportedAt: this.#lastReportAt, disk: found };
    }
    return this.#disk.disk;
  }
}

function processRow(status: ReportedStatus, { now, isThis }: { now: number; isThis: boolean }): ProcessRow {
  const { process, host, pid, role, state, startedAt, reportedAt, runningCount } = status;
  return {
    process,
    host,
    pid,
    role,
    state,
    startedAt: isoTime(startedAt),
    reportedAt: isoTime(reportedAt),
    isThis,
    isAlive: isAlive(status, now),
    failuresInARow: status.failuresInARow,
    running: runningCount,
  };
}
