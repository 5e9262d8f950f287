import type { Figures, RunFigures, TimeCounts } from "./figures.js";
import { byPlace } from "./handler-places.js";
import { NO_FIGURES, sumRuns } from "./sum-figures.js";

/**
 * Longest text of a step, in bytes, so that a week of steps takes less than 1 MB. What is said of handlers fills it up,
 * in the order of their places.
 */
export const MAX_STORED_BYTES = 525;

/** The place of the first bucket with any, then the counts from there on. Times are short, so this is too. */
type StoredTimes = number[];

/** Done, failed, and their times. */
type StoredRuns = [done: number, failed: number, ...times: StoredTimes];

/** What is written of figures: short, because there are some 1,000 of these. Fields without anything are left out. */
interface StoredFigures {
  /** {@link Figures.answers} */
  a?: Record<string, number>;
  /** {@link Figures.answerTimes} */
  t?: StoredTimes;
  /** {@link Figures.runs} */
  r?: Record<string, StoredRuns>;
  /** {@link Figures.otherRuns} */
  o?: StoredRuns;
  /** {@link Figures.gauges}: backlog, its age, outbox, its age, used, free. */
  g?: [number, number, number, number, number | null, number | null];
}

/** Figures as text, of which handlers are left out together when they are too many. */
export function toStoredFigures(figures: Figures): string {
  const inOrder = [...figures.runs].toSorted(([one], [other]) => byPlace(one, other));
  const fixed = writeAll(figures, [], figures.otherRuns);
  let free = MAX_STORED_BYTES - Buffer.byteLength(fixed);
  const kept: [string, RunFigures][] = [];
  let { otherRuns } = figures;
  for (const [handler, runs] of inOrder) {
    free -= Buffer.byteLength(JSON.stringify({ [handler]: writeRuns(runs) }));
    if (free >= 0) kept.push([handler, runs]);
    else otherRuns = sumRuns(otherRuns, runs);
  }
  let text = inOrder.length === 0 ? fixed : writeAll(figures, kept, otherRuns);
  // Those without a place need room too.
  while (kept.length > 0 && Buffer.byteLength(text) > MAX_STORED_BYTES) {
    otherRuns = sumRuns(otherRuns, kept.pop()?.[1]);
    text = writeAll(figures, kept, otherRuns);
  }
  return text;
}

/** Reads them again, without what a later version may have added. Undefined for what cannot be read. */
export function fromStoredFigures(text: string): Figures | undefined {
  try {
    return readFigures(text);
  } catch {
    return undefined;
  }
}

function readFigures(text: string): Figures {
  const { a = {}, t, r = {}, o, g } = JSON.parse(text) as StoredFigures;
  return {
    ...NO_FIGURES,
    answers: a,
    answerTimes: t === undefined ? [] : readTimes(t),
    runs: new Map(Object.entries(r).map(([handler, runs]) => [handler, readRuns(runs)])),
    otherRuns: o === undefined ? undefined : readRuns(o),
    gauges:
      g === undefined
        ? undefined
        : {
            backlog: { depth: g[0], oldestAgeMs: g[1] },
            outbox: { depth: g[2], oldestAgeMs: g[3] },
            disk: { usedBytes: g[4] ?? undefined, freeBytes: g[5] ?? undefined },
          },
  };
}

function writeAll(
  { answers, answerTimes, gauges }: Figures,
  runs: readonly [string, RunFigures][],
  otherRuns: RunFigures | undefined,
): string {
  const stored: StoredFigures = {};
  if (Object.keys(answers).length > 0) stored.a = answers;
  if (answerTimes.some((count) => count > 0)) stored.t = writeTimes(answerTimes);
  if (runs.length > 0) stored.r = Object.fromEntries(runs.map(([handler, of]) => [handler, writeRuns(of)]));
  if (otherRuns !== undefined) stored.o = writeRuns(otherRuns);
  if (gauges !== undefined) {
    const { backlog, outbox, disk } = gauges;
    stored.g = [
      backlog.depth,
      Math.round(backlog.oldestAgeMs),
      outbox.depth,
      Math.round(outbox.oldestAgeMs),
      disk.usedBytes ?? null,
      disk.freeBytes ?? null,
    ];
  }
  return JSON.stringify(stored);
}

function writeRuns({ done, failed, times }: RunFigures): StoredRuns {
  return [done, failed, ...writeTimes(times)];
}

function readRuns([done, failed, ...times]: StoredRuns): RunFigures {
  return { done, failed, times: readTimes(times) };
}

function writeTimes(times: TimeCounts): StoredTimes {
  const first = times.findIndex((count) => count > 0);
  if (first === -1) return [];
  return [first, ...times.slice(first, times.findLastIndex((count) => count > 0) + 1)];
}

function readTimes([first = 0, ...counts]: StoredTimes): TimeCounts {
  return [...Array.from({ length: first }, () => 0), ...counts];
}
