import type { Clock } from "../base/clock.js";
import { Deadlines, type Expiring } from "../base/deadlines.js";
import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import type { RunFigures } from "../store/figures.js";
import { TimeBuckets, countTimes } from "../store/time-buckets.js";
import type { Lease } from "../store/work.js";
import type { RegisteredHandler } from "./handler.js";
import type { RunContext, RunContexts } from "./run-context.js";
import type { RunEnd } from "./settlement-of.js";

/** A run of a handler until its end, its timeout or a stop: the first of them decides. */
export class HandlerRun implements Expiring {
  /** Never rejects. */
  readonly ended: Promise<RunEnd>;
  readonly #handler: RegisteredHandler;
  readonly #contexts: readonly RunContext[];
  /** What a batch does as one, the context of its first event does. */
  readonly #first: RunContext;
  #resolve: ((end: RunEnd | Promise<RunEnd>) => void) | undefined;

  /** Calls the handler. Nothing here holds the events longer than the handler does. */
  constructor(handler: RegisteredHandler, contexts: RunContexts, call: () => unknown) {
    this.#handler = handler;
    this.#contexts = contexts;
    [this.#first] = contexts;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    void this.#call(call);
  }

  expire(): void {
    const { name, timeoutMs } = this.#handler;
    const error = new PigeonholeError(
      "handler_timeout",
      `Handler "${name}" took longer than its timeoutMs of ${timeoutMs}.`,
    );
    this.#end(error, { kind: "failed", error });
  }

  stop(reason: Error): void {
    const isLost = isPigeonholeError(reason, "lease_lost");
    this.#end(reason, isLost ? { kind: "interrupted", error: reason } : { kind: "stopped", error: reason });
  }

  /** Its lease has ended before it. */
  lose(): void {
    const text = `The lease of handler "${this.#handler.name}" has ended before its run, so another run does its work.`;
    this.#end(new PigeonholeError("lease_lost", text), { kind: "lost" });
  }

  /** The ids of its events, as listed. */
  get eventIds(): string[] {
    return this.#contexts.map(({ work }) => work.eventId);
  }

  isUnder(lease: Lease): boolean {
    return this.#contexts.some(({ work }) => work.seq === lease.seq && work.token === lease.token);
  }

  async #call(call: () => unknown): Promise<void> {
    const context = this.#first;
    try {
      await call();
      if (context.pendingCommit !== undefined) await context.pendingCommit;
      this.#resolve?.({ kind: context.pendingCommit === undefined ? "done" : "committed" });
    } catch (error) {
      this.#resolve?.(endOf({ kind: "failed", error }, context));
    }
  }

  #end(reason: Error, end: RunEnd): void {
    this.#first.abort(reason);
    this.#resolve?.(endOf(end, this.#first));
  }
}

/**
 * A commit that had started when the run ended decides: what is committed is done, also after a later error. Whatever
 * the handler made of the failure of its store, such as another error, it is not the handler's own.
 */
async function endOf(end: RunEnd, context: RunContext): Promise<RunEnd> {
  const { pendingCommit } = context;
  try {
    await pendingCommit;
    if (pendingCommit !== undefined) return { kind: "committed" };
  } catch (error) {
    if (isPigeonholeError(error, "lease_lost")) return { kind: "lost" };
  }
  const { storeFailure } = context;
  return end.kind === "failed" && storeFailure !== undefined ? { kind: "interrupted", error: storeFailure } : end;
}

/** So many interruptions in a row of one piece of work do not count: its own runs may be what keeps the store busy. */
const MAX_IN_A_ROW = 2;

/** What has happened to runs in this process, whether handlers run all the time or only while the work is drained. */
export class RunRecord {
  readonly #runs = new Map<string, HandlerRuns>();
  /** Work parked since the start because too many processes had died in it. */
  crashLoops = 0;

  /** The runs of a handler, also those of earlier drains. */
  runsOf(handler: RegisteredHandler, clock: Clock): HandlerRuns {
    const runs = this.#runs.get(handler.name) ?? new HandlerRuns(handler, clock);
    this.#runs.set(handler.name, runs);
    return runs;
  }

  /** The current runs, and for how many milliseconds each has run. */
  get running(): { handler: string; eventId: string; forMs: number }[] {
    return [...this.#runs].flatMap(([handler, { deadlines }]) =>
      deadlines.running.flatMap(({ thing, forMs }) => thing.eventIds.map((eventId) => ({ handler, eventId, forMs }))),
    );
  }

  /** The runs that have ended since the last call. */
  takeEndedRuns(): ReadonlyMap<string, RunFigures> {
    const taken = [...this.#runs].map(([handler, { times }]) => {
      return [handler, { done: times.done.take(), failed: times.failed.take() }] as const;
    });
    return new Map(taken.filter(([, { done, failed }]) => countTimes(done) + countTimes(failed) > 0));
  }
}

/** The runs of one handler. */
export class HandlerRuns {
  readonly handler: RegisteredHandler;
  /** The current ones, which expire by the handler's `timeoutMs`. */
  readonly deadlines: Deadlines<HandlerRun>;
  /** How long they took. */
  readonly times = { done: new TimeBuckets(), failed: new TimeBuckets() };
  /** How often in a row the store has failed under a piece of work, by the event's place in the order of acceptance. */
  readonly #interrupted = new Map<number, number>();

  constructor(handler: RegisteredHandler, clock: Clock) {
    this.handler = handler;
    this.deadlines = new Deadlines(clock, handler.timeoutMs);
  }

  /**
   * Counts a run that has ended, and says how it counts. One that was stopped, or whose lease is lost, runs again and
   * counts then. A store that fails under the same work again and again may do so because of its runs: they must not
   * be endless.
   */
  note(end: RunEnd, seq: number, tookMs: number): RunEnd {
    if (end.kind === "done" || end.kind === "committed") this.times.done.count(tookMs);
    const inARow = end.kind === "interrupted" ? (this.#interrupted.get(seq) ?? 0) + 1 : 0;
    const isFailure = end.kind === "failed" || inARow > MAX_IN_A_ROW;
    if (isFailure) this.times.failed.count(tookMs);
    this.#interrupted.delete(seq);
    if (end.kind !== "interrupted") return end;
    if (isFailure) return { kind: "failed", error: countedFailure(end.error, inARow) };
    this.#interrupted.set(seq, inARow);
    return end;
  }

  /** Aborts current runs, which are then settled as not done. */
  abort(reason: Error): void {
    for (const run of this.deadlines.underWay) run.stop(reason);
  }

  /** The lease has a new holder: its run is aborted, and writes nothing any more. */
  lose(lease: Lease): void {
    for (const run of this.deadlines.underWay) if (run.isUnder(lease)) run.lose();
  }
}

function countedFailure(failure: PigeonholeError, inARow: number): PigeonholeError {
  const text =
    `The store failed under ${inARow} runs in a row, so the last one counts. ${failure.message} If the store is well, ` +
    "see whether the handler itself holds the lock or the connection that it waits for.";
  return new PigeonholeError(failure.code, text, { cause: failure });
}
