import { DAY, HOUR, MINUTE } from "../base/duration.js";
import { stepAt } from "./figure-series.js";
import { FIGURE_RANGES, type Figures, type ProcessStatus, type ReportedStatus } from "./figures.js";
import { fromStoredFigures, toStoredFigures } from "./stored-figures.js";
import { NO_FIGURES, sumFigures } from "./sum-figures.js";

/** In place of a process: the figures of several, joined, or what those said that have stopped. */
export const JOINED = "";
/** Most steps that are joined at once. */
export const MAX_JOINED_STEPS = 200;
/** Most rows that are dropped for their age at once: a clock that is ahead for a moment drops little. */
export const MAX_DROPPED_ROWS = 20;

/** No process that lives writes about a step that ended so long ago. */
const CLOSED_AFTER_MS = MINUTE;
/** A process that lives writes at least once a minute. */
const LEFT_AFTER_MS = 5 * MINUTE;
/** Rows that are further ahead come from a clock that was wrong. */
const MAX_AHEAD_MS = DAY;
/** A process that has not reported for so long is forgotten. */
const STATUS_KEPT_MS = HOUR;

/** A step that a process writes about now. */
export interface OpenStep {
  /** Length of the step, which names the range in the tables. */
  resolution: number;
  step: number;
  /** Rows of this range are kept from `oldest` to `newest`. */
  oldest: number;
  newest: number;
  /** True where the process that writes about the step first joins rows of closed steps. */
  joins: boolean;
}

/** The step of each range that a time is in. */
export function openStepsAt(now: number): OpenStep[] {
  return Object.entries(FIGURE_RANGES).map(([range, { stepMs, keptMs }]) => {
    const step = stepAt(now, stepMs);
    // Each minute under load. When little happens no process may write then, but each one does within five.
    const joins = range === "24h" || (range === "1h" && step % MINUTE === 0);
    return {
      resolution: stepMs,
      step,
      oldest: step - keptMs,
      newest: step + MAX_AHEAD_MS,
      joins,
    };
  });
}

/** Rows with steps after `oldest`, up to `newest`, are kept. */
export function keptSteps(resolution: number, now: number): { oldest: number; newest: number } {
  const range = openStepsAt(now).find((open) => open.resolution === resolution);
  return range ?? { oldest: Infinity, newest: -Infinity };
}

/** False for a row that is too old, or too far ahead. */
export function isKept({ resolution, step }: Omit<StoredRow, "figures">, now: number): boolean {
  const { oldest, newest } = keptSteps(resolution, now);
  return step > oldest && step <= newest;
}

/** No process that lives still has rows of steps that end at `before` or earlier, or begin after `newest`. */
export function leftSteps(now: number): { before: number; newest: number } {
  return { before: now - LEFT_AFTER_MS, newest: now + MAX_AHEAD_MS };
}

/** Steps that end then or earlier are closed. */
export function closedBefore(now: number): number {
  return now - CLOSED_AFTER_MS;
}

/** Statuses of these times are kept, and of older ones the one that is joined. */
export function keptStatuses(now: number): { oldest: number; newest: number } {
  return { oldest: now - STATUS_KEPT_MS, newest: now + STATUS_KEPT_MS };
}

/** What a row has once figures were added to it. */
export function addToRow(row: string | undefined, figures: Figures): string {
  return toStoredFigures(row === undefined ? figures : sumFigures(fromStoredFigures(row) ?? NO_FIGURES, figures));
}

/** A row as the tables have it. */
export interface StoredRow {
  resolution: number;
  step: number;
  figures: string;
}

/** One row for each of the steps that the rows are of. */
export function joinRows(rows: readonly StoredRow[]): StoredRow[] {
  const byStep = new Map<string, { resolution: number; step: number; sum: Figures }>();
  for (const { resolution, step, figures } of rows) {
    const key = `${resolution} ${step}`;
    const sum = sumFigures(byStep.get(key)?.sum ?? NO_FIGURES, fromStoredFigures(figures) ?? NO_FIGURES);
    byStep.set(key, { resolution, step, sum });
  }
  return [...byStep.values()].map(({ resolution, step, sum }) => ({ resolution, step, figures: toStoredFigures(sum) }));
}

/** A status as the tables have it. */
export interface StoredStatus {
  at: number;
  status: string;
}

/** Writes a status as JSON, and reads it again. */
export function toStoredStatus(status: ProcessStatus): string {
  return JSON.stringify(status);
}

export function fromStoredStatus({ at, status }: StoredStatus): ReportedStatus {
  return { ...(JSON.parse(status) as ProcessStatus), reportedAt: at };
}
