/*
 * What the dashboard has beside the protocol of web/api/: figures, what runs now, and the stream.
 *
 * GET  api/overview?range=1h|24h|7d            → OverviewFigures
 * GET  api/running                             → RunningWork
 * GET  api/stream                              → server-sent events, see StreamMessages
 */
import type { ProcessFigures, RunningRow, StoreFigures } from "../operator/figures-now.js";
import type { BulkJob } from "../store/bulk-jobs.js";
import type { FigureRange, FigureSeries, RunSeries, StepValues } from "../store/figures.js";
import type { RepairRound } from "../store/repair-rounds.js";
import type { PausedHandlerRow } from "../web/api/handlers.js";

export type { FigureRange, RunSeries, StepValues };

/**
 * What the plots show: all processes of the store together. With {@link StateNow.trouble}: the last hour of this
 * process, whatever range was asked for.
 */
export interface OverviewFigures extends Omit<FigureSeries, "unreadable"> {
  now: StateNow;
}

/** From this age on, {@link StateNow.countedAgoMs} is shown. */
export const OLD_COUNTS_MS = 5_000;

/** The state at one moment. */
export interface StateNow extends ProcessFigures {
  /** ISO 8601. */
  at: string;
  /**
   * Why the store cannot be read; null while it can. With it, all of this is of the process that answers, from its
   * memory, and what only the store knows is null or empty.
   */
  trouble: StoreTrouble | null;
  /** Why open jobs do not go on in the process that answers, which tries again by itself; null while they do. */
  jobTrouble: StoreTrouble | null;
  /** What the process that answers has raised and is not over, the last raised first. */
  alarms: AlarmRow[];
  /** Processes on the store that reported within the last minutes, this one first. */
  processes: ProcessRow[];
  /** The last round of the receiver's option `repair`; null without one. */
  repair: RepairRound | null;
  store: StoreFigures | null;
  /** How long ago `store` and the work of `paused` were counted, in milliseconds: much takes its time. */
  countedAgoMs: number;
  /** Null where it is not known. */
  disk: { usedBytes: number | null; freeBytes: number | null };
  /** Handlers that do not run until they are resumed; the page shows a banner. */
  paused: PausedHandlerRow[];
}

/** Why the store cannot be read; without secrets and without what its rows hold. */
export interface StoreTrouble {
  /** Code of the error, such as `store_replaced` or `store_unreachable`; `not_started` before the receiver has. */
  code: string;
  /** What happened, plain text. */
  message: string;
  /** What to do, plain text. */
  advice: string;
}

/** A problem that needs an operator. */
export interface AlarmRow {
  /** Such as `store_unavailable`. */
  kind: string;
  /** Since when it is raised again and again, ISO 8601. */
  since: string;
  /** When it was raised last, ISO 8601. */
  at: string;
  /** What has happened, with its numbers and codes, in a sentence. */
  text: string;
  /** What to do, plain text. */
  advice: string;
}

/** A process that has the store open. */
export interface ProcessRow {
  /** Opaque; unique among processes. */
  process: string;
  /** Name of its machine. */
  host: string;
  /** Its number on that machine. */
  pid: number;
  /** The receiver's option `role`. */
  role: string;
  /** When it started, ISO 8601. */
  startedAt: string;
  /** True for the process that answers this request. */
  isThis: boolean;
  /** False once it has not reported for two minutes. */
  isAlive: boolean;
  /** State of its receiver. */
  state: string;
  /** ISO 8601. */
  reportedAt: string;
  failuresInARow: number;
  /** Handlers that run in it now. */
  running: number;
}

/** The longest-running first. */
export interface RunningWork {
  items: RunningRow[];
  /** True when there are more than are listed: each process reports 50. */
  hasMore: boolean;
}

/**
 * The messages of the stream, by the name of the event, with JSON as their data. The browser connects again by itself;
 * a page that was away then loads its lists again.
 */
export interface StreamMessages {
  /** At once, and each second while something has changed. */
  now: StateNow;
  /** A step of the figures was written, or has ended while the store cannot be read: load the overview again. */
  figures: { at: string };
  /** Jobs that have changed. */
  jobs: { jobs: BulkJob[] };
  /** The receiver stops; the stream ends. */
  end: Record<string, never>;
}
