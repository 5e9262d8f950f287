import type { Deadlines } from "../base/deadlines.js";
import { PigeonholeError } from "../base/error.js";
import type { RunFigures } from "../store/figures.js";
import { TimeBuckets, countTimes } from "../store/time-buckets.js";
import type { HandlerRun } from "./handler-run.js";

/** So many interruptions in a row of one piece of work do not count: its own runs may be what keeps the store busy. */
const MAX_IN_A_ROW = 2;
/** Of more pieces of work, the first are forgotten: another process may have ended them. */
const MAX_KEPT = 10_000;

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
  takeEndedRuns(): ReadonlyMap<string, RunFigures> {
    const taken = [...this.#times].map(([handler, times]) => [handler, times.take()] as const);
    return new Map(taken.filter(([, { done, failed }]) => countTimes(done) + countTimes(failed) > 0));
  }
}

/** Counts the ended runs of one handler by how long they took. A run adds to a number and allocates nothing. */
export class RunTimes {
  readonly #runs = { done: new TimeBuckets(), failed: new TimeBuckets() };

  count(outcome: keyof RunFigures, tookMs: number): void {
    this.#runs[outcome].count(tookMs);
  }

  /** What was counted since the last call. */
  take(): RunFigures {
    return { done: this.#runs.done.take(), failed: this.#runs.failed.take() };
  }
}

/** The work of one handler under whose last runs in this process the store has failed. */
export class Interruptions {
  /** How often in a row, by the event's place in the order of acceptance. */
  readonly #inARow = new Map<number, number>();

  /** The store has failed under a run: returns why it counts as failed, if it does. */
  note(seq: number, failure: PigeonholeError): PigeonholeError | undefined {
    const inARow = (this.#inARow.get(seq) ?? 0) + 1;
    this.end(seq);
    this.#inARow.set(seq, inARow);
    this.#dropFirst();
    return inARow > MAX_IN_A_ROW ? countedFailure(failure, inARow) : undefined;
  }

  /** A run has ended and was settled. */
  end(seq: number): void {
    this.#inARow.delete(seq);
  }

  #dropFirst(): void {
    if (this.#inARow.size <= MAX_KEPT) return;
    for (const seq of this.#inARow.keys()) return this.end(seq);
  }
}

function countedFailure(failure: PigeonholeError, inARow: number): PigeonholeError {
  const text =
    `The store failed under ${inARow} runs in a row, so the last one counts. ${failure.message} If the store is well, ` +
    "see whether the handler itself holds the lock or the connection that it waits for.";
  return new PigeonholeError(failure.code, text, { cause: failure });
}
