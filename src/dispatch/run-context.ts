import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";
import { type Logger, makeSafeLogger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import type { ContactEventInput } from "../contract/contact-event.js";
import { sourceNameOf } from "../protocol/inbox-id.js";
import type { Store } from "../store/store.js";
import type { TraceContext } from "../store/trace-context.js";
import type { DoneSettlement, LeasedWork } from "../store/work.js";
import type { ComparableOutboxEvent, NewOutboxEvent } from "../store/outbox.js";
import {
  type ContactEventRecorder,
  RunRecords,
  apiNotConfigured,
  toOutboxEvent,
  readRecordKey,
} from "../outbox/contact-event-record.js";
import { type KeyOwner, deriveIdempotencyKey } from "../outbox/idempotency-key.js";
import type { DeliveryInfo, HandlerContext } from "./handler.js";
import { isPassingFailure } from "../store/passing-failure.js";
import type { ReadyWork, WindowLease } from "./gate.js";
import type { RunEnd } from "./settlement-of.js";
import { RunSteps } from "./steps.js";

export interface ContextDeps {
  store: Store<unknown>;
  /** The receiver's name, for idempotency keys. */
  name: string;
  /** The receiver's client; undefined when it has none. */
  api: Client | undefined;
  logger: Logger;
  clock: Clock;
}

/** Of a run: that of its event, or those of the events of a batch. */
export type RunContexts = readonly [RunContext, ...RunContext[]];

/** The context of one run, with what the dispatcher needs to know afterwards. */
export class RunContext implements HandlerContext<unknown> {
  readonly attempt: number;
  /** Set when a handler of batches has failed this event alone. */
  failure: { error: unknown } | undefined;
  /** The requested commit, if any. */
  pendingCommit: Promise<void> | undefined;
  /** How the store failed first under this run, in a way that passes. */
  storeFailure: PigeonholeError | undefined;
  /** The run has ended: what it records from now on would not be stored. */
  isOver = false;
  readonly #lease: WindowLease;
  readonly #work: LeasedWork;
  readonly #eventType: string;
  /** What is kept of the run's span. */
  readonly #trace: TraceContext | undefined;
  readonly #deps: ContextDeps;
  #steps: RunSteps | undefined;
  /** One time for all records of the run, so that the same record made twice is the same. */
  readonly #begunAt: number;
  #records: RunRecords | undefined;
  #abort: AbortController | undefined;
  #aborted: Error | undefined;
  #log: Logger | undefined;

  constructor({ lease, work, event }: ReadyWork, trace: TraceContext | undefined, deps: ContextDeps) {
    this.attempt = work.attempt;
    this.#work = work;
    this.#lease = lease;
    this.#eventType = event.type;
    this.#trace = trace;
    this.#deps = deps;
    this.#begunAt = deps.clock.now();
  }

  /** Like `lease`, no property of its own: a handler that logs its context logs no body. */
  get work(): LeasedWork {
    return this.#work;
  }

  get lease(): WindowLease {
    return this.#lease;
  }

  // Members are created when they are used: most handlers use few, and runs are many. Functions are bound to their
  // context, so that a handler may destructure it: async (event, { step, commit }) => …

  get delivery(): DeliveryInfo {
    const { eventId: inboxId, receivedAt, signedAt, body } = this.work;
    return { source: sourceNameOf(inboxId), inboxId, receivedAt, signedAt, rawBody: body };
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#aborted !== undefined) this.#abort.abort(this.#aborted);
    }
    return this.#abort.signal;
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#abort?.abort(reason);
  }

  get log(): Logger {
    const { eventId, handler, attempt } = this.work;
    return (this.#log ??= this.#deps.logger.child({ eventId, eventType: this.#eventType, handler, attempt }));
  }

  /** True when a step of this or an earlier run may be in the store. */
  get mayHaveSteps(): boolean {
    return this.#steps !== undefined || this.attempt > 1;
  }

  /** How the run has ended for its event, where it has so for all of its batch. */
  ownEnd(end: RunEnd): RunEnd {
    const isOfHandler = end.kind === "done" || end.kind === "committed" || end.kind === "failed";
    return isOfHandler && this.failure !== undefined ? { kind: "failed", ...this.failure } : end;
  }

  /** The run is over: returns its contact events, if any, and refuses further ones. */
  end(): readonly NewOutboxEvent[] | undefined {
    this.isOver = true;
    return this.#records?.all;
  }

  get idempotencyKey(): HandlerContext["idempotencyKey"] {
    return (label) => deriveIdempotencyKey(this.#keyOwner(), label);
  }

  get step(): HandlerContext["step"] {
    return (name, fn) => this.#runStep(name, fn);
  }

  get commit(): HandlerContext<unknown>["commit"] {
    return (fn) => this.commitAll(fn, [this]);
  }

  get contactEvents(): ContactEventRecorder {
    return { record: (event, options) => this.#record(event, readRecordKey(options)) };
  }

  get api(): Client {
    const { api } = this.#deps;
    if (api === undefined) throw apiNotConfigured();
    return api;
  }

  async #runStep<Value>(name: string, fn: () => Value | Promise<Value>): Promise<Value> {
    this.#steps ??= new RunSteps(this.work, this.#deps);
    const kept = await this.#watched(this.#steps.begin(name));
    if (kept !== undefined) {
      this.#repeatRecords(kept.records);
      return kept.value as Value;
    }
    const recordedBefore = this.#records?.all.length ?? 0;
    const value = await fn();
    // Records of concurrent code may be among them, which does no harm: a record made twice is one.
    await this.#watched(this.#steps.keep(name, value, this.#records?.all.slice(recordedBefore)));
    return value;
  }

  /** Runs `fn` and marks the work of these runs done. */
  commitAll(fn: (tx: unknown) => unknown, runs: readonly RunContext[]): Promise<void> {
    if (this.pendingCommit !== undefined) {
      const refused = Promise.reject<void>(
        new PigeonholeError("commit_twice", `Handler "${this.work.handler}" called ctx.commit twice in one run.`),
      );
      // The handler may not await it. The process must not end then, and the loss of these writes must be logged.
      refused.catch(() => makeSafeLogger(this.log).error({ code: "commit_twice" }, "commit_refused"));
      return refused;
    }
    const isLate = this.isOver;
    const settlements = runs.map((run) => run.#doneNow());
    this.pendingCommit = this.#deps.store.commit(settlements, fn, this.signal);
    // A handler that throws instead of awaiting this must not end the process by an unhandled rejection.
    this.pendingCommit.catch((error: unknown) => {
      this.#noteFailure(error);
      // Called by a handler that continues after its run: only this line reports that these writes are lost.
      if (isLate) makeSafeLogger(this.log).error({ code: "run_ended" }, "commit_refused");
    });
    return this.pendingCommit;
  }

  /** The settlement of work that is done, with what its run has recorded so far. */
  #doneNow(): DoneSettlement {
    const { seq, handler, token } = this.work;
    const at = this.#deps.clock.now();
    return { seq, handler, token, to: "done", at, dropSteps: this.mayHaveSteps, records: this.#records?.all };
  }

  async #watched<Value>(call: Promise<Value>): Promise<Value> {
    try {
      return await call;
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  #noteFailure(error: unknown): void {
    if (isPassingFailure(error)) this.storeFailure ??= error;
  }

  #record(event: ContactEventInput, label: string | undefined): void {
    const { api, clock } = this.#deps;
    if (api === undefined) throw apiNotConfigured();
    if (this.pendingCommit !== undefined) {
      throw new PigeonholeError("invalid_argument", "Record contact events before ctx.commit, which stores them.");
    }
    if (this.isOver) {
      // The error may reach no caller when a handler continues after its run.
      makeSafeLogger(this.log).error({ code: "run_ended" }, "record_refused");
      throw new PigeonholeError(
        "run_ended",
        `Handler "${this.work.handler}" recorded a contact event after its run had ended. Await all that it does before it returns.`,
      );
    }
    // Measured by now, not by the begin of the run: what happened since then is not in the future.
    const times = { nowMs: clock.now(), defaultMs: this.#begunAt };
    this.#addRecord(toOutboxEvent(event, { owner: this.#keyOwner(), label, trace: this.#trace, ...times }));
  }

  #keyOwner(): KeyOwner {
    const { eventId, handler } = this.work;
    return { receiver: this.#deps.name, eventId, handler };
  }

  /** What was recorded in a finished step is recorded again. */
  #repeatRecords(records: readonly ComparableOutboxEvent[] = []): void {
    if (records.length > 0 && this.isOver) {
      // The step may not be awaited, so an error here could end the process.
      makeSafeLogger(this.log).error({ code: "run_ended" }, "record_refused");
      return;
    }
    for (const record of records) this.#addRecord(record);
  }

  #addRecord(record: ComparableOutboxEvent): void {
    this.#records ??= new RunRecords();
    this.#records.add(record);
  }
}
