import { elapsedBy } from "../base/clock.js";
import { errorFields } from "../base/error-fields.js";
import type { Random } from "../base/random.js";
import type { LeasedWork, Settlement } from "../store/work.js";
import { BatchRun, type BatchWork } from "./batch-run.js";
import { type ContextDeps, RunContext } from "./run-context.js";
import type { ReadyWork, WindowLease } from "./lease-window.js";
import { HandlerRun, type HandlerRuns, type RunCall, type RunRecord } from "./handler-runs.js";
import { type RunEnd, settlementOf } from "./settlement-of.js";
import type { RunObserver, RunSpan } from "./run-observer.js";

export interface RunnerDeps {
  context: ContextDeps;
  random: Random;
  logErrorMessages: boolean;
  record: RunRecord;
}

/** What is left to do once a handler has ended. Holds neither event nor body, which are released with the run. */
export interface RunResult {
  /**
   * To be written to the store, unless the run was settled inside `ctx.commit`, its lease is lost, or the store failed
   * under it.
   */
  settlement: Settlement | "committed" | "lost" | "interrupted";
  /** It recorded contact events, which can be sent once it is settled. */
  hasRecorded: boolean;
  /** To be ended when the run is settled. */
  span: RunSpan | undefined;
  /** Of a batch: the result of each piece of its work. */
  batch?: readonly { lease: WindowLease; result: RunResult }[];
}

/** Runs handlers over leased work, and says how each run is to be settled. */
export class Runner {
  /** What has happened to runs in this process. */
  readonly record: RunRecord;
  readonly #deps: RunnerDeps;
  /** Undefined without OpenTelemetry. */
  observer: RunObserver | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.record = deps.record;
  }

  /** Runs one piece of work, or a batch. Resolves when the handler has ended; never rejects. */
  run(of: HandlerRuns, ready: ReadyWork, others?: readonly ReadyWork[]): Promise<RunResult> {
    const run = (span?: RunSpan): Promise<RunResult> =>
      others === undefined ? this.#run(of, ready, span) : this.#runBatch(of, [ready, ...others], span);
    if (this.observer === undefined) return run();
    const { work, event } = ready;
    const { eventId, attempt, trace } = work;
    const batch = others && { others: others.map((other) => other.work.trace) };
    const info = { handler: of.handler.name, eventType: event.type, eventId, attempt, trace, ...batch };
    const span = this.observer.beginRun(info);
    return span.within(() => run(span));
  }

  #run(of: HandlerRuns, { work, event }: ReadyWork, span: RunSpan | undefined): Promise<RunResult> {
    const { context: deps, random } = this.#deps;
    const context = new RunContext({ work, event }, span, deps);
    const call = (): unknown => of.handler.run(event, context);
    return this.#call(of, { context, call }, (end, tookMs) => {
      const result = this.#resultOf({ end, context, work, random }, of, tookMs);
      result.span = span;
      return result;
    });
  }

  /** Each event of a batch has a result of its own. */
  #runBatch(of: HandlerRuns, ready: BatchWork, span: RunSpan | undefined): Promise<RunResult> {
    const { context: deps, random } = this.#deps;
    const batch = new BatchRun(ready, span, deps);
    const events = ready.map(({ event }) => event);
    const call = (): unknown => of.handler.run(events, batch);
    return this.#call(of, { context: batch.first, call, batch }, (ended, tookMs) => {
      // The same wait for all, so that they run again together.
      const drawn = random();
      const results = batch.end(ended).map(({ lease, ...run }) => {
        return { lease, result: this.#resultOf({ ...run, random: () => drawn }, of, tookMs) };
      });
      return { settlement: summaryOf(results), hasRecorded: false, span, batch: results };
    });
  }

  /** How a run that has ended on one event is to be settled. */
  #resultOf(
    { end, context, work, random }: { end: RunEnd; context: RunContext; work: LeasedWork; random: Random },
    of: HandlerRuns,
    tookMs: number,
  ): RunResult {
    const counted = of.note(end, work.seq, tookMs);
    const records = context.end();
    const run = { work, handler: of.handler, dropSteps: context.mayHaveSteps, records, random };
    return { settlement: this.#settlementOf(counted, run), hasRecorded: records !== undefined, span: undefined };
  }

  /** Calls the handler, and gives how it has ended to `conclude`, with how many milliseconds it took. */
  #call(
    { handler, deadlines }: HandlerRuns,
    call: RunCall,
    conclude: (end: RunEnd, tookMs: number) => RunResult,
  ): Promise<RunResult> {
    // What the handler does before it first waits is part of its time.
    const begunAt = elapsedBy(this.#deps.context.clock);
    const run = new HandlerRun(handler, call);
    const deadline = deadlines.begin(run, begunAt);
    return run.ended.then((end) => {
      deadlines.end(deadline);
      return conclude(end, deadlines.elapsedOf(deadline));
    });
  }

  #settlementOf(end: RunEnd, run: Omit<Parameters<typeof settlementOf>[1], "now">): RunResult["settlement"] {
    if (end.kind === "committed" || end.kind === "lost") return end.kind;
    const { context } = this.#deps;
    if (end.kind === "interrupted") {
      const { eventId, handler, attempt } = run.work;
      context.logger.warn({ eventId, handler, attempt, ...errorFields(end.error, true) }, "run_interrupted");
      return "interrupted";
    }
    const settlement = settlementOf(end, { ...run, now: context.clock.now() });
    if (end.kind !== "done") this.#logEnd(run.work, settlement, end.error);
    return settlement;
  }

  #logEnd({ eventId, handler, attempt }: LeasedWork, settlement: Settlement, error: unknown): void {
    const { logger } = this.#deps.context;
    const fields = { eventId, handler, attempt, ...errorFields(error, this.#deps.logErrorMessages) };
    if (settlement.to !== "pending") {
      logger.error({ ...fields, reason: "reason" in settlement ? settlement.reason : undefined }, "handler_dead");
      return;
    }
    const { dueAt, wait } = settlement;
    if (wait === undefined) logger.warn({ ...fields, dueAt }, "handler_failed");
    else logger.warn({ ...fields, dueAt, holds: wait.holds }, "handler_waits");
  }
}

/** What the gates see of a batch: how its first event has ended, unless another one holds the handler, for longest. */
function summaryOf(results: readonly { result: RunResult }[]): RunResult["settlement"] {
  const heldUntil = (each: RunResult["settlement"]): number =>
    typeof each === "object" && each.to === "pending" && each.wait?.holds === "handler" ? each.dueAt : 0;
  const settlements = results.map(({ result }) => result.settlement);
  return settlements.toSorted((a, b) => heldUntil(b) - heldUntil(a))[0] ?? "lost";
}
