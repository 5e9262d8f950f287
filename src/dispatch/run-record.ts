import type { EndedRuns } from "../store/handler-times.js";
import { RunTimes } from "./run-times.js";

/** What has happened to runs in this process, whether handlers run all the time or only while the work is drained. */
export class RunRecord {
  readonly #times = new Map<string, RunTimes>();
  /** Work parked since the start because too many processes had died in it. */
  crashLoops = 0;

  /** How long the runs of a handler took. */
  timesOf(handler: string): RunTimes {
    const times = this.#times.get(handler) ?? new RunTimes();
    this.#times.set(handler, times);
    return times;
  }

  /** The runs that have ended since the last call. */
  takeEndedRuns(): EndedRuns[] {
    return [...this.#times].flatMap(([handler, times]) => times.take(handler));
  }
}
