import { DAY, MINUTE } from "../base/duration.js";
import { RUN_TIME_BOUNDS } from "../base/run-time-bounds.js";

/** Runs are counted by the ten minutes in which they are noted. */
const STEP_MS = 10 * MINUTE;
/** A week can be compared with the day before it. */
const KEPT_MS = 8 * DAY;

/** Runs of one handler that ended the same way and took about as long. */
export interface EndedRuns {
  /** Name of the handler. */
  handler: string;
  /** `failed`: it threw, or took longer than its `timeoutMs`. */
  outcome: "done" | "failed";
  /** Lower bound of what they took in milliseconds, one of `RUN_TIME_BOUNDS`. */
  fromMs: number;
  /** How many. */
  runs: number;
}

/** Those of one handler that ended the same way and took about as long, together. */
export function sumEndedRuns(ended: readonly EndedRuns[]): EndedRuns[] {
  const byKind = new Map<string, EndedRuns>();
  for (const each of ended) {
    const kind = JSON.stringify([each.handler, each.outcome, each.fromMs]);
    byKind.set(kind, { ...each, runs: each.runs + (byKind.get(kind)?.runs ?? 0) });
  }
  return [...byKind.values()];
}

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
  /** They took less than this, in milliseconds; undefined for the last bucket, which has no end. */
  toMs: number | undefined;
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
  /** Half of the runs took less than this, in milliseconds; undefined when that is in the bucket without an end. */
  medianMs: number | undefined;
  /** 95 % of the runs took less than this, in milliseconds; undefined when that is in the bucket without an end. */
  p95Ms: number | undefined;
  /** From the first to the last bucket with a run, ascending. */
  buckets: RunTimeBucket[];
}

/** The step that a time is in, and the oldest step that is kept then; both by their begin. */
export function stepsAt(now: number): { step: number; oldest: number } {
  const step = now - (now % STEP_MS);
  return { step, oldest: step - KEPT_MS };
}

/** The first and the last step that a query chooses, by their begin. */
export function stepsOf({ since = 0, until = Number.MAX_SAFE_INTEGER }: HandlerTimesQuery): {
  first: number;
  before: number;
} {
  return { first: stepsAt(since).step, before: until };
}

/** The counts by handler, in the order of their names. */
export function toHandlerTimes(counts: readonly EndedRuns[]): HandlerTimes[] {
  const names = [...new Set(counts.map(({ handler }) => handler))].toSorted();
  return names.map((name) => {
    const buckets = toBuckets(counts.filter(({ handler }) => handler === name));
    const runs = sum(buckets, ({ done, failed }) => done + failed);
    return {
      handler: name,
      runs,
      failed: sum(buckets, ({ failed }) => failed),
      medianMs: upperBound(buckets, runs * 0.5),
      p95Ms: upperBound(buckets, runs * 0.95),
      buckets,
    };
  });
}

/** Those without a run are left out before the first and after the last with one. */
function toBuckets(counts: readonly EndedRuns[]): RunTimeBucket[] {
  const all = RUN_TIME_BOUNDS.map((fromMs, place) => {
    const toMs = RUN_TIME_BOUNDS[place + 1];
    const inside = counts.filter((count) => count.fromMs >= fromMs && count.fromMs < (toMs ?? Infinity));
    const ended = (outcome: EndedRuns["outcome"]): number =>
      sum(inside, (count) => (count.outcome === outcome ? count.runs : 0));
    return { fromMs, toMs, done: ended("done"), failed: ended("failed") };
  });
  const hasRuns = ({ done, failed }: RunTimeBucket): boolean => done + failed > 0;
  return all.slice(all.findIndex(hasRuns), all.findLastIndex(hasRuns) + 1);
}

/** Where the bucket ends with which at least `rank` runs are reached. */
function upperBound(buckets: readonly RunTimeBucket[], rank: number): number | undefined {
  let reached = 0;
  return buckets.find(({ done, failed }) => (reached += done + failed) >= rank)?.toMs;
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
