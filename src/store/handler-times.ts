import { runTimeEnd } from "../base/run-time-bounds.js";
import { type FigureRow, NO_FIGURES, readRow, stepAt, sumFigures } from "./figure-rows.js";
import { LONG_STEPS, type RunFigures } from "./figures.js";
import { type TimeCounts, bucketOf, countTimes, sumTimes, timeAt } from "./time-buckets.js";

/** Bounds of the buckets that are shown: there are too many others for a chart in words. */
const SHOWN_BOUNDS = [
  0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 120_000, 300_000,
];

/** Which ended runs. */
export interface HandlerTimesQuery {
  /** Name of the handler. @default all */
  handler?: string | undefined;
  /** Only runs since then, in milliseconds since 1970, in whole steps of ten minutes. @default all */
  since?: number | undefined;
  /** Only runs before then, in milliseconds since 1970, in whole steps of ten minutes. @default all */
  until?: number | undefined;
}

/** Runs of a handler that took about as long. */
export interface RunTimeBucket {
  /** They took at least this, in milliseconds. */
  fromMs: number;
  /** They took less than this, in milliseconds; null for the last bucket, which has no end. */
  toMs: number | null;
  /** How many of them were done. */
  done: number;
  /** How many of them failed. */
  failed: number;
}

/** How long the runs of one handler took. */
export interface HandlerTimes {
  /** Name of the handler. */
  handler: string;
  /** Ended runs, those that failed included. */
  runs: number;
  /** Those of them that threw, or took longer than the handler's `timeoutMs`. */
  failed: number;
  /** Half of the runs took less than this, in milliseconds; null when that is in the bucket without an end. */
  medianMs: number | null;
  /** 95 % of the runs took less than this, in milliseconds; null when that is in the bucket without an end. */
  p95Ms: number | null;
  /** From the first to the last bucket with a run, ascending. */
  buckets: RunTimeBucket[];
}

/** The steps that a query chooses, by their begin. */
export function stepsOf({ since = 0, until = Number.MAX_SAFE_INTEGER }: HandlerTimesQuery) {
  return { resolution: LONG_STEPS.stepMs, first: stepAt(since, LONG_STEPS.stepMs), before: until };
}

/** The runs of these rows by handler, in the order of their names. */
export function toHandlerTimes(rows: readonly Pick<FigureRow, "figures">[], query: HandlerTimesQuery): HandlerTimes[] {
  const { runs } = rows.map(({ figures }) => readRow(figures) ?? NO_FIGURES).reduce(sumFigures, NO_FIGURES);
  return [...runs]
    .filter(([handler]) => query.handler === undefined || handler === query.handler)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([handler, of]) => ({ handler, ...timesOf(of) }));
}

function timesOf(runs: RunFigures): Omit<HandlerTimes, "handler"> {
  const all = sumTimes(runs.done, runs.failed);
  const below = (share: number): number | null => runTimeEnd(timeAt(all, share) ?? 0) ?? null;
  return {
    runs: countTimes(all),
    failed: countTimes(runs.failed),
    medianMs: below(0.5),
    p95Ms: below(0.95),
    buckets: toBuckets(runs),
  };
}

/** Those without a run are left out before the first and after the last with one. */
function toBuckets(runs: RunFigures): RunTimeBucket[] {
  const all = SHOWN_BOUNDS.map((fromMs, place) => {
    const toMs = SHOWN_BOUNDS[place + 1] ?? null;
    const [first, after] = [bucketOf(fromMs), toMs === null ? Infinity : bucketOf(toMs)];
    const inside = (counts: TimeCounts): number =>
      countTimes(
        counts.flatMap((bucket, at) =>
          at % 2 === 0 && bucket >= first && bucket < after ? [bucket, counts[at + 1] ?? 0] : [],
        ),
      );
    return { fromMs, toMs, done: inside(runs.done), failed: inside(runs.failed) };
  });
  const hasRuns = ({ done, failed }: RunTimeBucket): boolean => done + failed > 0;
  return all.slice(all.findIndex(hasRuns), all.findLastIndex(hasRuns) + 1);
}
