import type { Deadlines } from "../base/deadlines.js";
import type { EndedRuns } from "../store/handler-times.js";
import type { HandlerRun } from "./handler-run.js";
import { Interruptions } from "./interruptions.js";
import { RunTimes } from "./run-times.js";

/** What has happened to runs in this process, whether handlers run all the time or only while the work is drained. */
export class RunRecord {
  readonly #times = new Map<string, RunTimes>();
  readonly #interruptions = new Map<string, Interruptions>();
  readonly #runs = new Map<string, Pick<Deadlines<HandlerRun>, "running">>();
  /** Work parked since the start because too many processes had died in it. */
  crashLoops = 0;

  /** How long the runs of a handler took. */
  timesOf(handler: string): RunTimes {
    const times = this.#times.get(handler) ?? new RunTimes();
    this.#times.set(handler, times);
    return times;
  }

  /** The work of a handler under whose last runs the store has failed. */
  interruptionsOf(handler: string): Interruptions {
    const interruptions = this.#interruptions.get(handler) ?? new Interruptions();
    this.#interruptions.set(handler, interruptions);
    return interruptions;
  }

  /** Takes the current runs of a handler from here, in place of those of an earlier drain. */
  watch(handler: string, runs: Pick<Deadlines<HandlerRun>, "running">): void {
    this.#runs.set(handler, runs);
  }

  /** The current runs, and for how many milliseconds each has run. */
  get running(): { handler: string; eventId: string; forMs: number }[] {
    return [...this.#runs].flatMap(([handler, runs]) =>
      runs.running.map(({ thing, forMs }) => ({ handler, eventId: thing.eventId, forMs })),
    );
  }

  /** The runs that have ended since the last call. */
  takeEndedRuns(): EndedRuns[] {
    return [...this.#times].flatMap(([handler, times]) => times.take(handler));
  }
}
