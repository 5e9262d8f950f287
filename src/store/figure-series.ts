import { MINUTE, SECOND } from "../base/duration.js";
import { RUN_TIME_BOUNDS } from "../base/run-time-bounds.js";
import { ANSWERS, type OutcomeKind } from "../protocol/outcome.js";
import {
  FIGURE_RANGES,
  type Figures,
  type FigureSeries,
  type FiguresQuery,
  type Gauges,
  type RunFigures,
  type RunSeries,
  type StepValues,
  type TimeCounts,
  type TimeSeries,
} from "./figures.js";
import { knowsRuns } from "./handler-places.js";
import { NO_FIGURES, sumFigures } from "./sum-figures.js";

/** A process that has nothing to say writes once a minute, and up to 10 s late. */
const SILENT_FOR_MS = MINUTE + 10 * SECOND;
/** What happens now is written at the end of so much time. */
const WRITTEN_AFTER_MS = 10 * SECOND;

/** The figures of one process in one step. */
export interface FigureRow {
  /** Begin of the step, in milliseconds since 1970. */
  step: number;
  /** Undefined for a row that cannot be read. */
  figures: Figures | undefined;
}

const NO_RUNS: RunFigures = { done: 0, failed: 0, times: [] };

/** What is known of a step: nothing happened in `NO_FIGURES`, undefined says that no process wrote about it. */
type KnownSteps = readonly (Figures | undefined)[];

/** The begins of the first and the last step of a range. */
export function stepsOfRange({ range, now }: FiguresQuery): { stepMs: number; first: number; last: number } {
  const { stepMs, keptMs } = FIGURE_RANGES[range];
  const last = stepAt(now, stepMs);
  return { stepMs, first: last - keptMs + stepMs, last };
}

/** Begin of the step that a time is in. */
export function stepAt(now: number, stepMs: number): number {
  return now - (now % stepMs);
}

/** The rows of a range, of all processes in any order, step by step. */
export function toFigureSeries(rows: readonly FigureRow[], query: FiguresQuery): FigureSeries {
  const { stepMs, first, last } = stepsOfRange(query);
  const times = Array.from({ length: (last - first) / stepMs + 1 }, (_, place) => first + place * stepMs);
  const steps = knownSteps(rows, times, query.now - stepMs - WRITTEN_AFTER_MS);
  return {
    range: query.range,
    stepMs,
    times,
    answers: toAnswers(steps),
    latency: toTimeSeries(steps.map((figures) => figures?.answerTimes)),
    handlers: namesOf(steps).map((handler) => ({
      handler,
      ...toRunSeries(steps, (figures) => runsOf(figures, handler)),
    })),
    otherHandlers: steps.some((figures) => figures?.otherRuns !== undefined)
      ? toRunSeries(steps, ({ otherRuns }) => otherRuns ?? NO_RUNS)
      : null,
    backlog: toLevels(steps, ({ backlog }) => backlog),
    outbox: toLevels(steps, ({ outbox }) => outbox),
    disk: {
      usedBytes: valuesOf(steps, ({ gauges }) => gauges?.disk.usedBytes),
      freeBytes: valuesOf(steps, ({ gauges }) => gauges?.disk.freeBytes),
    },
    unreadable: rows.filter(({ figures }) => figures === undefined).length,
  };
}

/** A step between two writes of a process without news has no row; its gauges are those of the step before. */
function knownSteps(rows: readonly FigureRow[], times: readonly number[], writtenUntil: number): KnownSteps {
  const byStep = new Map<number, Figures>();
  for (const { step, figures } of rows) {
    if (figures !== undefined) byStep.set(step, sumFigures(byStep.get(step) ?? NO_FIGURES, figures));
  }
  let saidAt = -Infinity;
  let gauges: Gauges | undefined;
  return times.map((time) => {
    const figures = byStep.get(time);
    if (figures !== undefined) {
      saidAt = time;
      gauges = figures.gauges ?? gauges;
      return { ...figures, gauges };
    }
    return time - saidAt <= SILENT_FOR_MS && time <= writtenUntil ? { ...NO_FIGURES, gauges } : undefined;
  });
}

function toAnswers(steps: KnownSteps): FigureSeries["answers"] {
  const answers: FigureSeries["answers"] = {};
  for (const kind of Object.keys(ANSWERS) as OutcomeKind[]) {
    if (steps.some((figures) => (figures?.answers[kind] ?? 0) > 0)) {
      answers[kind] = valuesOf(steps, (figures) => figures.answers[kind] ?? 0);
    }
  }
  return answers;
}

function namesOf(steps: KnownSteps): string[] {
  return [...new Set(steps.flatMap((figures) => [...(figures?.runs.keys() ?? [])]))].toSorted();
}

/** Undefined for a handler whose runs may be among the others. */
function runsOf(figures: Figures, handler: string): RunFigures | undefined {
  return figures.runs.get(handler) ?? (knowsRuns(figures, handler) ? NO_RUNS : undefined);
}

function toRunSeries(steps: KnownSteps, of: (figures: Figures) => RunFigures | undefined): RunSeries {
  return {
    runs: valuesOf(steps, (figures) => countOf(of(figures))),
    failed: valuesOf(steps, (figures) => of(figures)?.failed),
    ...toTimeSeries(steps.map((figures) => (figures === undefined ? undefined : of(figures)?.times))),
  };
}

function countOf(runs: RunFigures | undefined): number | undefined {
  return runs === undefined ? undefined : runs.done + runs.failed;
}

function toTimeSeries(times: readonly (TimeCounts | undefined)[]): TimeSeries {
  const at = (share: number): StepValues => times.map((counts) => timeAt(counts ?? [], share));
  return { medianFromMs: at(0.5), p95FromMs: at(0.95), p99FromMs: at(0.99) };
}

/** Where the bucket begins in which this share of the counted is reached. Null when nothing was counted. */
function timeAt(counts: TimeCounts, share: number): number | null {
  const rank = share * counts.reduce((sum, count) => sum + count, 0);
  if (rank === 0) return null;
  let reached = 0;
  return RUN_TIME_BOUNDS[counts.findIndex((count) => (reached += count) >= rank)] ?? null;
}

function toLevels(steps: KnownSteps, of: (gauges: Gauges) => Gauges["backlog"]): FigureSeries["backlog"] {
  const values = (field: keyof Gauges["backlog"]): StepValues =>
    valuesOf(steps, ({ gauges }) => (gauges === undefined ? undefined : of(gauges)[field]));
  return { depth: values("depth"), oldestAgeMs: values("oldestAgeMs") };
}

function valuesOf(steps: KnownSteps, value: (figures: Figures) => number | undefined): StepValues {
  return steps.map((figures) => (figures === undefined ? null : (value(figures) ?? null)));
}
