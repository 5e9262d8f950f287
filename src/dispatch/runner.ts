import { elapsedBy } from "../base/clock.js";
import { errorFields } from "../base/error-fields.js";
import type { Random } from "../base/random.js";
import type { TraceContext } from "../store/trace-context.js";
import type { LeasedWork, Settlement } from "../store/work.js";
import { BatchRun } from "./batch-handler.js";
import type { RegisteredHandler } from "./handler.js";
import { HandlerRun, type HandlerRuns, type RunRecord } from "./handler-runs.js";
import type { ReadyWork, WorkEnd } from "./gate.js";
import { type ContextDeps, RunContext, type RunContexts } from "./run-context.js";
import { type RunEnd, settlementOf } from "./settlement-of.js";

/** What a run begins with: one piece of work, or those of a batch. */
export type RunWork = readonly [ReadyWork, ...ReadyWork[]];

/**
 * What became of a run. `interrupted`: the store failed under it, so it does not count and its work runs again.
 * `lost`: its lease has a new holder, or the store is broken.
 */
export type RunOutcome = "done" | "retry" | "dead" | "interrupted" | "lost";

/** Watches handler runs; the receiver gives one to OpenTelemetry where that is installed. */
export interface RunObserver {
  beginRun(handler: RegisteredHandler, run: RunWork): RunSpan;
}

/** One run and its settlement. */
export interface RunSpan {
  /** What is kept of the span with what the run records. */
  readonly trace: TraceContext | undefined;
  /** Calls `run` once, inside the span. */
  within<Result>(run: () => Promise<Result>): Promise<Result>;
  /** The run is settled. */
  end(outcome: RunOutcome): void;
}

export interface RunnerDeps {
  context: ContextDeps;
  random: Random;
  logErrorMessages: boolean;
  record: RunRecord;
}

/** What is left to do once a handler has ended. */
export interface RunResult {
  /** One, or those of a batch. */
  ends: readonly WorkEnd[];
  /** To be ended when the run is settled. */
  span?: RunSpan | undefined;
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
  run(of: HandlerRuns, first: ReadyWork, others: readonly ReadyWork[]): Promise<RunResult> {
    const run: RunWork = [first, ...others];
    const span = this.observer?.beginRun(of.handler, run);
    return span === undefined ? this.#run(of, run) : span.within(() => this.#run(of, run, span));
  }

  #run(of: HandlerRuns, [first, ...others]: RunWork, span?: RunSpan): Promise<RunResult> {
    const { context: deps, random } = this.#deps;
    const { handler, deadlines } = of;
    // What the handler does before it first waits is part of its time.
    const begunAt = elapsedBy(deps.clock);
    const contextOf = (ready: ReadyWork): RunContext => new RunContext(ready, span?.trace, deps);
    const context = contextOf(first);
    const contexts: RunContexts = [context, ...others.map(contextOf)];
    const call = (): unknown => {
      if (handler.batch === undefined) return handler.run(first.event, context);
      const events = [first, ...others].map(({ event }) => event);
      return handler.run(events, new BatchRun(events, contexts, deps.logger));
    };
    const run = new HandlerRun(handler, contexts, call);
    const deadline = deadlines.begin(run, begunAt);
    return run.ended.then((end) => {
      deadlines.end(deadline);
      const tookMs = deadlines.elapsedOf(deadline);
      // The same wait for all events of a batch, so that they run again together.
      let drawn: number | undefined;
      const draw = (): number => (drawn ??= random());
      return { ends: contexts.map((each) => this.#conclude(each, { of, end, tookMs, random: draw })), span };
    });
  }

  /** How a run is to be settled for one event. */
  #conclude(
    context: RunContext,
    { of, end: ended, tookMs, random }: { of: HandlerRuns; end: RunEnd; tookMs: number; random: Random },
  ): WorkEnd {
    const { lease, work } = context;
    const end = of.note(context.ownEnd(ended), work.seq, tookMs);
    const records = context.end();
    const run = { work, handler: of.handler, dropSteps: context.mayHaveSteps, records, random };
    return { lease, settlement: this.#settlementOf(end, run), hasRecorded: records !== undefined };
  }

  #settlementOf(end: RunEnd, run: Omit<Parameters<typeof settlementOf>[1], "now">): WorkEnd["settlement"] {
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
