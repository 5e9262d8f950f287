import { MINUTE, SECOND } from "../base/duration.js";
import { isoTime } from "../base/iso-time.js";
import { ANSWERS, type OutcomeKind } from "../protocol/outcome.js";
import { type FigureRow, NO_FIGURES, keptStepsOf, readRow, stepAt, sumFigures } from "./figure-rows.js";
import {
  FIGURE_RANGES,
  type Figures,
  type FigureSeries,
  type FiguresQuery,
  type Gauges,
  type RunFigures,
  type RunSeries,
  type StepValues,
  type TimeSeries,
} from "./figures.js";
import { type TimeCounts, countTimes, sumTimes, timeAt } from "./time-buckets.js";

/** A process that has nothing to say writes once a minute, and up to 10 s late. */
const SILENT_FOR_MS = MINUTE + 10 * SECOND;
/** What happens now is written at the end of so much time. */
const WRITTEN_AFTER_MS = 10 * SECOND;

const NO_RUNS: RunFigures = { done: [], failed: [] };

/** What is known of a step: nothing happened in `NO_FIGURES`, undefined says that no process wrote about it. */
type KnownSteps = readonly (Figures | undefined)[];

/** The rows of a range in any order, step by step. */
export function toFigureSeries(rows: readonly Omit<FigureRow, "resolution">[], query: FiguresQuery): FigureSeries {
  const { range, now } = query;
  const { stepMs, keptMs } = FIGURE_RANGES[range];
  const { first } = keptStepsOf(query);
  const times = Array.from({ length: keptMs / stepMs }, (_, place) => first + place * stepMs);
  const read = rows.map(({ step, figures }) => ({ step: stepAt(step, stepMs), figures: readRow(figures) }));
  const steps = knownSteps(read, times, now - stepMs - WRITTEN_AFTER_MS);
  return {
    range,
    stepMs,
    times: times.map((time) => isoTime(time)),
    answers: toAnswers(steps),
    latency: toTimeSeries(steps.map((figures) => figures?.answerTimes)),
    handlers: namesOf(steps).map((handler) => ({ handler, ...toRunSeries(steps, handler) })),
    backlog: toLevels(steps, ({ backlog }) => backlog),
    outbox: toLevels(steps, ({ outbox }) => outbox),
    disk: {
      usedBytes: valuesOf(steps, ({ gauges }) => gauges?.disk.usedBytes),
      freeBytes: valuesOf(steps, ({ gauges }) => gauges?.disk.freeBytes),
    },
    unreadable: read.filter(({ figures }) => figures === undefined).length,
  };
}

/** A step between two writes of a process without news has no row; its gauges are those of the step before. */
function knownSteps(
  rows: readonly { step: number; figures: Figures | undefined }[],
  times: readonly number[],
  writtenUntil: number,
): KnownSteps {
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

function toRunSeries(steps: KnownSteps, handler: string): RunSeries {
  const runs = steps.map((figures) => figures && (figures.runs.get(handler) ?? NO_RUNS));
  const all = runs.map((each) => each && sumTimes(each.done, each.failed));
  return {
    runs: all.map((times) => (times === undefined ? null : countTimes(times))),
    failed: runs.map((each) => (each === undefined ? null : countTimes(each.failed))),
    ...toTimeSeries(all),
  };
}

function toTimeSeries(times: readonly (TimeCounts | undefined)[]): TimeSeries {
  const at = (share: number): StepValues => times.map((counts) => timeAt(counts ?? [], share) ?? null);
  return { medianFromMs: at(0.5), p95FromMs: at(0.95), p99FromMs: at(0.99) };
}

function toLevels(steps: KnownSteps, of: (gauges: Gauges) => Gauges["backlog"]): FigureSeries["backlog"] {
  const values = (field: keyof Gauges["backlog"]): StepValues =>
    valuesOf(steps, ({ gauges }) => (gauges === undefined ? undefined : of(gauges)[field]));
  return { depth: values("depth"), oldestAgeMs: values("oldestAgeMs") };
}

function valuesOf(steps: KnownSteps, value: (figures: Figures) => number | undefined): StepValues {
  return steps.map((figures) => (figures === undefined ? null : (value(figures) ?? null)));
}
