import type { FailedRun, FailedRuns } from "./inbox-view.js";

/** The kept runs of one handler on one event, in their order; undefined without any. */
export function toFailedRuns(runs: readonly FailedRun[]): FailedRuns | undefined {
  const [first] = runs;
  const last = runs.at(-1);
  return first === undefined || last === undefined ? undefined : { first, last };
}
