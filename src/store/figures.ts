import { DAY, HOUR, MINUTE, SECOND } from "../base/duration.js";
import type { OutcomeKind } from "../protocol/outcome.js";
import type { TimeCounts } from "./time-buckets.js";

/** Figures are kept in short steps, and in long ones, by which a week can be compared with the day before it. */
export const SHORT_STEPS = { stepMs: 10 * SECOND, keptMs: HOUR };
export const LONG_STEPS = { stepMs: 10 * MINUTE, keptMs: 8 * DAY };

/** The spans that are shown, each in steps of its own length, which are whole numbers of kept ones. */
export const FIGURE_RANGES = {
  "1h": { ...SHORT_STEPS, of: SHORT_STEPS },
  "24h": { stepMs: LONG_STEPS.stepMs, keptMs: DAY, of: LONG_STEPS },
  "7d": { stepMs: 30 * MINUTE, keptMs: 7 * DAY, of: LONG_STEPS },
} as const;

/** The name of a span. */
export type FigureRange = keyof typeof FIGURE_RANGES;

/** Runs of one handler that ended, by how long they took. */
export interface RunFigures {
  /** Those that were done. */
  done: TimeCounts;
  /** Those that threw, or took longer than the handler's `timeoutMs`. */
  failed: TimeCounts;
}

/** How much there is, at one moment. Every process sees the whole store. */
export interface Gauges {
  /** Pieces of work that wait or run; and the age of the oldest of their events, in milliseconds. */
  backlog: { depth: number; oldestAgeMs: number };
  /** Contact events that wait or are being sent; and the age of the oldest, in milliseconds. */
  outbox: { depth: number; oldestAgeMs: number };
  /** What the store takes, and what is free. */
  disk: DiskUse;
}

/** What a store takes, and what is free on its disk, in bytes; undefined where it is not known. */
export interface DiskUse {
  /** What the store takes. */
  usedBytes: number | undefined;
  /** What is free on its disk. */
  freeBytes: number | undefined;
}

/** What happened in one process, or in several together, in a span of time. */
export interface Figures {
  /** Deliveries that were answered, by outcome; outcomes without any are left out. */
  answers: Partial<Record<OutcomeKind, number>>;
  /**
   * Those of them that the service may have sent, by how long the answer took: from the headers, or from the body if
   * that came late.
   */
  answerTimes: TimeCounts;
  /** By the name of the handler. */
  runs: ReadonlyMap<string, RunFigures>;
  /** The highest of each, and the lowest of what is free; undefined when none were taken. */
  gauges: Gauges | undefined;
}

/** A handler that runs now. */
export interface RunningNow {
  /** Name of the handler. */
  handler: string;
  /** Id of the event that it has. */
  eventId: string;
  /** Milliseconds since 1970. */
  since: number;
}

/** What keeps work waiting that could otherwise begin: the name of a gate. */
export type GateName =
  | "paused"
  | "retry_after"
  | "store"
  | "crash"
  | "concurrency"
  | "fair_share"
  | "key"
  | "batch"
  | "rate";

/** What a process says about itself. */
export interface ProcessStatus {
  /** Unique among processes, also of other machines. */
  process: string;
  /** Name of its machine. */
  host: string;
  /** Its number on that machine. */
  pid: number;
  /** State of its receiver, such as `running`. */
  state: string;
  /** The receiver's option `role`. */
  role: string;
  /** When it started, in milliseconds since 1970. */
  startedAt: number;
  /** Answers other than 2xx in a row. */
  failuresInARow: number;
  /** When it gave the last 100 of them, in milliseconds since 1970, the oldest first. */
  failureTimes: readonly number[];
  /** When it last answered 2xx, in milliseconds since 1970; undefined when it has not. */
  lastSuccessAt: number | undefined;
  /**
   * When it last stored a delivery, or found that one was stored before its start, in milliseconds since 1970;
   * undefined when it has stored and found none.
   */
  lastAcceptedAt: number | undefined;
  /** The receiver's option `silenceAfterMs`, in milliseconds; undefined when silence raises no alarm. */
  silenceAfterMs: number | undefined;
  /** Deliveries that were read and not settled yet. */
  waiting: number;
  /** Handlers that run in it now. */
  runningCount: number;
  /** The longest-running of them first, 50 at most. */
  running: readonly RunningNow[];
  /** What keeps work waiting in it, by handler. */
  waitsFor: Readonly<Record<string, GateName>>;
}

/** A status as it was last written. */
export interface ReportedStatus extends ProcessStatus {
  /** Milliseconds since 1970. A process that lives reports at least once a minute. */
  reportedAt: number;
}

/** One write of a process. */
export interface FiguresWrite {
  /** {@link ProcessStatus.process}. */
  process: string;
  /** The time of the call, in milliseconds since 1970; it decides the steps that the figures are added to. */
  now: number;
  /** What happened since the last write. */
  figures: Figures;
  /** Replaces its last one; undefined for a process that stops, whose status is removed. */
  status: ProcessStatus | undefined;
  /** Of a process that stops: what it says in the end, which is joined with what others said that have stopped. */
  last?: ProcessStatus | undefined;
}

/** Which figures. */
export interface FiguresQuery {
  /** How far back, and in which steps. */
  range: FigureRange;
  /** The end of the range, in milliseconds since 1970. */
  now: number;
}

/** One value per step, in the order of {@link FigureSeries.times}; null where nothing is known. */
export type StepValues = (number | null)[];

/**
 * Times in each step, by the range that they are in, which is all that is known: its lower bound in milliseconds, one
 * of `RUN_TIME_BOUNDS`. The next one is its end; the last range has none.
 */
export interface TimeSeries {
  /** Half of them took less than the end of this range. */
  medianFromMs: StepValues;
  /** 95 % of them took less than the end of this range. */
  p95FromMs: StepValues;
  /** 99 % of them took less than the end of this range. */
  p99FromMs: StepValues;
}

/** Runs in each step. */
export interface RunSeries extends TimeSeries {
  /** Runs that ended, those that failed included. */
  runs: StepValues;
  /** Those of them that failed. */
  failed: StepValues;
}

/** A handler's runs in each step. */
export interface HandlerRunSeries extends RunSeries {
  /** Name of the handler. */
  handler: string;
}

/** The figures of all processes of a store together, step by step. */
export interface FigureSeries {
  /** How far back it goes. */
  range: FigureRange;
  /** Length of a step, in milliseconds. */
  stepMs: number;
  /** Begin of each step, ISO 8601, ascending without gaps; the last step is still open. */
  times: string[];
  /** Deliveries in each step, by outcome; outcomes without any are left out. */
  answers: Partial<Record<OutcomeKind, StepValues>>;
  /** Time from a delivery to its answer. */
  latency: TimeSeries;
  /** In the order of their names. */
  handlers: HandlerRunSeries[];
  /** {@link Gauges.backlog} in each step. */
  backlog: { depth: StepValues; oldestAgeMs: StepValues };
  /** {@link Gauges.outbox} in each step. */
  outbox: { depth: StepValues; oldestAgeMs: StepValues };
  /** {@link Gauges.disk} in each step. */
  disk: { usedBytes: StepValues; freeBytes: StepValues };
  /** Stored rows that were left out, as they cannot be read. */
  unreadable: number;
}

/** What a store keeps of the figures of its processes. Nothing waits for it, and figures may be lost. */
export interface FiguresStore {
  /**
   * Adds figures to the steps of `now` and replaces the status of the process. Also drops some of what is old.
   */
  writeFigures(write: FiguresWrite): Promise<void>;
  /** What the store takes now. */
  readDiskUse(): Promise<DiskUse>;
}

/** Of {@link FiguresStore}, what those who look at a store from outside need; `now` is the time of the call. */
export interface FiguresReader {
  /** The figures of all processes together, up to now. */
  readFigures(range: FigureRange): Promise<FigureSeries>;
  /**
   * What the processes last said, the newest first; those of the last hour at most. All that have stopped are one, see
   * `isEnded`: it has their answers, and no time at which it goes.
   */
  readStatuses(): Promise<ReportedStatus[]>;
}
