import { FIGURE_RANGES, type Figures, type FiguresQuery, type Gauges, type RunFigures } from "./figures.js";
import { sumTimes } from "./time-buckets.js";

/** In place of a process: what those said that have stopped. */
export const JOINED = "";
/** Of a time in which nothing happened. */
export const NO_FIGURES: Figures = { answers: {}, answerTimes: [], runs: new Map(), gauges: undefined };

/** What all processes together have in one step. */
export interface FigureRow {
  /** Length of the step, in milliseconds. */
  resolution: number;
  /** Begin of the step, in milliseconds since 1970. */
  step: number;
  /** {@link Figures} as JSON. */
  figures: string;
}

/** Begin of the step that a time is in. */
export function stepAt(now: number, stepMs: number): number {
  return now - (now % stepMs);
}

/** The kept steps that a range has. */
export function keptStepsOf({ range, now }: FiguresQuery): { resolution: number; first: number; before: number } {
  const { stepMs, keptMs, of } = FIGURE_RANGES[range];
  const before = stepAt(now, stepMs) + stepMs;
  return { resolution: of.stepMs, first: before - keptMs, before };
}

/** What a row has once figures were added to it. */
export function addToRow(row: string | undefined, figures: Figures): string {
  const { runs, ...rest } = row === undefined ? figures : sumFigures(readRow(row) ?? NO_FIGURES, figures);
  return JSON.stringify({ ...rest, runs: Object.fromEntries(runs) });
}

/** Undefined for what cannot be read. */
export function readRow(text: string): Figures | undefined {
  try {
    const { runs, ...rest } = JSON.parse(text) as Figures;
    return { ...NO_FIGURES, ...rest, runs: new Map(Object.entries(runs)) };
  } catch {
    return undefined;
  }
}

/** The figures of two times, or of two processes, together. */
export function sumFigures(one: Figures, other: Figures): Figures {
  const answers: Figures["answers"] = { ...one.answers };
  for (const kind of Object.keys(other.answers) as (keyof Figures["answers"])[]) {
    answers[kind] = (answers[kind] ?? 0) + (other.answers[kind] ?? 0);
  }
  const runs = new Map(one.runs);
  for (const [handler, each] of other.runs) runs.set(handler, sumRuns(runs.get(handler), each));
  const answerTimes = sumTimes(one.answerTimes, other.answerTimes);
  return { answers, answerTimes, runs, gauges: joinGauges(one.gauges, other.gauges) };
}

function sumRuns(one: RunFigures | undefined, other: RunFigures): RunFigures {
  if (one === undefined) return other;
  return { done: sumTimes(one.done, other.done), failed: sumTimes(one.failed, other.failed) };
}

function joinGauges(one: Gauges | undefined, other: Gauges | undefined): Gauges | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    backlog: highest(one.backlog, other.backlog),
    outbox: highest(one.outbox, other.outbox),
    disk: {
      usedBytes: ofBoth(Math.max, one.disk.usedBytes, other.disk.usedBytes),
      freeBytes: ofBoth(Math.min, one.disk.freeBytes, other.disk.freeBytes),
    },
  };
}

function highest(one: Gauges["backlog"], other: Gauges["backlog"]): Gauges["backlog"] {
  return { depth: Math.max(one.depth, other.depth), oldestAgeMs: Math.max(one.oldestAgeMs, other.oldestAgeMs) };
}

function ofBoth(choose: (...values: number[]) => number, one: number | undefined, other: number | undefined) {
  return one === undefined || other === undefined ? (one ?? other) : choose(one, other);
}
