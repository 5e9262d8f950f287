import { RUN_TIME_BOUNDS } from "../base/run-time-bounds.js";
import type { EndedRuns } from "../store/handler-times.js";
import { TimeBuckets } from "../store/time-buckets.js";

const OUTCOMES = ["done", "failed"] as const satisfies readonly EndedRuns["outcome"][];

/** Counts the ended runs of one handler by how long they took. A run adds to a number and allocates nothing. */
export class RunTimes {
  readonly #runs = { done: new TimeBuckets(), failed: new TimeBuckets() };

  count(outcome: EndedRuns["outcome"], tookMs: number): void {
    this.#runs[outcome].count(tookMs);
  }

  /** What was counted since the last call. */
  take(handler: string): EndedRuns[] {
    return OUTCOMES.flatMap((outcome) => {
      const counts = this.#runs[outcome].take();
      return RUN_TIME_BOUNDS.flatMap((fromMs, bucket) => {
        const runs = counts[bucket] ?? 0;
        return runs === 0 ? [] : [{ handler, outcome, fromMs, runs }];
      });
    });
  }
}
