import { type EndedRuns, RUN_TIME_BOUNDS } from "../store/handler-times.js";

const OUTCOMES = ["done", "failed"] as const satisfies readonly EndedRuns["outcome"][];

/** Counts the ended runs of one handler by how long they took. A run adds to a number and allocates nothing. */
export class RunTimes {
  readonly #runs = {
    done: new Uint32Array(RUN_TIME_BOUNDS.length),
    failed: new Uint32Array(RUN_TIME_BOUNDS.length),
  };

  count(outcome: EndedRuns["outcome"], tookMs: number): void {
    const runs = this.#runs[outcome];
    const bucket = bucketOf(tookMs);
    runs[bucket] = (runs[bucket] ?? 0) + 1;
  }

  /** What was counted since the last call. */
  take(handler: string): EndedRuns[] {
    return OUTCOMES.flatMap((outcome) => {
      const counts = this.#runs[outcome].slice();
      this.#runs[outcome].fill(0);
      return RUN_TIME_BOUNDS.flatMap((fromMs, bucket) => {
        const runs = counts[bucket] ?? 0;
        return runs === 0 ? [] : [{ handler, outcome, fromMs, runs }];
      });
    });
  }
}

function bucketOf(tookMs: number): number {
  let bucket = RUN_TIME_BOUNDS.length - 1;
  while (bucket > 0 && (RUN_TIME_BOUNDS[bucket] ?? 0) > tookMs) bucket -= 1;
  return bucket;
}
