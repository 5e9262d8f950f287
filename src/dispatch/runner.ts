import { elapsedBy } from "../base/clock.js";
import { errorFields } from "../base/error-fields.js";
import type { Random } from "../base/random.js";
import type { LeasedWork, Settlement } from "../store/work.js";
import { type ContextDeps, RunContext } from "./run-context.js";
import type { ReadyWork } from "./lease-window.js";
import { HandlerRun, type HandlerRuns, type RunEnd, type RunRecord } from "./handler-runs.js";
import { settlementOf } from "./settlement-of.js";
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
}

/** Runs handlers over leased work, and says how each run is to be settled. */
export class Runner {
  readonly #deps: RunnerDeps;
  /** Undefined without OpenTelemetry. */
  observer: RunObserver | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** What has happened to runs in this process. */
  get record(): RunRecord {
    return this.#deps.record;
  }

  /** Runs one piece of work. Resolves when the handler has ended; never rejects. */
  run(of: HandlerRuns, ready: ReadyWork): Promise<RunResult> {
    if (this.observer === undefined) return this.#run(of, ready, undefined);
    const { work, event } = ready;
    const { eventId, attempt, trace } = work;
    const span = this.observer.beginRun({ handler: of.handler.name, eventType: event.type, eventId, attempt, trace });
    return span.within(() => this.#run(of, ready, span));
  }

  #run(of: HandlerRuns, { work, event }: ReadyWork, span: RunSpan | undefined) {
    const { handler, deadlines } = of;
    const context = new RunContext({ work, event, span }, this.#deps.context);
    // What the handler does before it first waits is part of its time.
    const begunAt = elapsedBy(this.#deps.context.clock);
    const run = new HandlerRun(handler, event, context);
    const deadline = deadlines.begin(run, begunAt);
    return run.ended.then((ended): RunResult => {
      deadlines.end(deadline);
      const end = countedEnd(ended, work, of);
      countRun(end, of, deadlines.elapsedOf(deadline));
      const records = context.end();
      const settlement = this.#settlementOf(end, { work, handler, dropSteps: context.mayHaveSteps, records });
      return { settlement, hasRecorded: records !== undefined, span };
    });
  }

  #settlementOf(end: RunEnd, run: Omit<Parameters<typeof settlementOf>[1], "now" | "random">): RunResult["settlement"] {
    if (end.kind === "committed" || end.kind === "lost") return end.kind;
    const { context, random } = this.#deps;
    if (end.kind === "interrupted") {
      const { eventId, handler, attempt } = run.work;
      context.logger.warn({ eventId, handler, attempt, ...errorFields(end.error, true) }, "run_interrupted");
      return "interrupted";
    }
    const settlement = settlementOf(end, { ...run, now: context.clock.now(), random });
    if (end.kind !== "done") this.#logEnd(run.work, settlement, end.error);
    return settlement;
  }

  #logEnd({ eventId, handler, attempt }: LeasedWork, settlement: Settlement, error: unknown): void {
    const { context, logErrorMessages } = this.#deps;
    const fields = { eventId, handler, attempt, ...errorFields(error, logErrorMessages) };
    if (settlement.to === "pending") {
      const { dueAt, wait } = settlement;
      if (wait === undefined) context.logger.warn({ ...fields, dueAt }, "handler_failed");
      else context.logger.warn({ ...fields, dueAt, holds: wait.holds }, "handler_waits");
    } else
      context.logger.error(
        { ...fields, reason: "reason" in settlement ? settlement.reason : undefined },
        "handler_dead",
      );
  }
}

/** A store that fails under the same work again and again may do so because of its runs: they must not be endless. */
function countedEnd(end: RunEnd, { seq }: LeasedWork, { interruptions }: HandlerRuns): RunEnd {
  const error = end.kind === "interrupted" ? interruptions.note(seq, end.error) : interruptions.end(seq);
  return error === undefined ? end : { kind: "failed", error };
}

/** A run that was stopped or interrupted, or whose lease is lost, runs again and counts then. */
function countRun({ kind }: RunEnd, { times }: HandlerRuns, tookMs: number): void {
  if (kind === "failed") times.count("failed", tookMs);
  else if (kind === "done" || kind === "committed") times.count("done", tookMs);
}
