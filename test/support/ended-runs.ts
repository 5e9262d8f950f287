import { NO_FIGURES, sumFigures } from "#pigeonhole/store/figure-rows.js";
import type { Figures, FiguresStore, RunFigures } from "#pigeonhole/store/figures.js";
import { bucketOf } from "#pigeonhole/store/time-buckets.js";

/** Runs of one handler that ended the same way and took about as long. */
export interface EndedRuns {
  handler: string;
  outcome: keyof RunFigures;
  /** What they took, in milliseconds. */
  fromMs: number;
  runs: number;
}

/** Figures with these runs, and nothing else. */
export function figuresOf(ended: readonly EndedRuns[]): Figures {
  return ended
    .map(({ handler, outcome, fromMs, runs }) => {
      const of: RunFigures = { done: [], failed: [], [outcome]: [bucketOf(fromMs), runs] };
      return { ...NO_FIGURES, runs: new Map([[handler, of]]) };
    })
    .reduce(sumFigures, NO_FIGURES);
}

/** Writes them as a process does that has no status. */
export function writeRuns(store: FiguresStore, ended: readonly EndedRuns[], now: number): Promise<void> {
  return store.writeFigures({ process: "test", now, figures: figuresOf(ended), status: undefined });
}
