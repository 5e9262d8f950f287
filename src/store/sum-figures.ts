import type { Figures, Gauges, RunFigures, TimeCounts } from "./figures.js";
import { knowsRuns } from "./handler-places.js";

/** Of a time in which nothing happened. */
export const NO_FIGURES: Figures = {
  answers: {},
  answerTimes: [],
  runs: new Map(),
  otherRuns: undefined,
  gauges: undefined,
};

/** The figures of two times, or of two processes, together. */
export function sumFigures(one: Figures, other: Figures): Figures {
  return {
    answers: sumAnswers(one.answers, other.answers),
    answerTimes: sumTimes(one.answerTimes, other.answerTimes),
    ...sumRunsByHandler(one, other),
    gauges: joinGauges(one.gauges, other.gauges),
  };
}

/** The runs of several handlers together; undefined for none. */
export function sumRuns(one: RunFigures | undefined, other: RunFigures | undefined): RunFigures | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    done: one.done + other.done,
    failed: one.failed + other.failed,
    times: sumTimes(one.times, other.times),
  };
}

function sumAnswers(one: Figures["answers"], other: Figures["answers"]): Figures["answers"] {
  const sum: Figures["answers"] = { ...one };
  for (const kind of Object.keys(other) as (keyof Figures["answers"])[]) {
    sum[kind] = (sum[kind] ?? 0) + (other[kind] ?? 0);
  }
  return sum;
}

function sumTimes(one: TimeCounts, other: TimeCounts): TimeCounts {
  const longer = one.length >= other.length ? one : other;
  return longer.map((_, place) => (one[place] ?? 0) + (other[place] ?? 0));
}

/** Runs of a handler that not both know go to the others as a whole: a part must not pass for all of them. */
function sumRunsByHandler(one: Figures, other: Figures): Pick<Figures, "runs" | "otherRuns"> {
  const runs = new Map<string, RunFigures>();
  let otherRuns = sumRuns(one.otherRuns, other.otherRuns);
  for (const handler of new Set([...one.runs.keys(), ...other.runs.keys()])) {
    const sum = sumRuns(one.runs.get(handler), other.runs.get(handler));
    if (sum === undefined) continue;
    if (knowsRuns(one, handler) && knowsRuns(other, handler)) runs.set(handler, sum);
    else otherRuns = sumRuns(otherRuns, sum);
  }
  return { runs, otherRuns };
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
  return {
    depth: Math.max(one.depth, other.depth),
    oldestAgeMs: Math.max(one.oldestAgeMs, other.oldestAgeMs),
  };
}

function ofBoth(choose: (...values: number[]) => number, one: number | undefined, other: number | undefined) {
  return one === undefined || other === undefined ? (one ?? other) : choose(one, other);
}
