import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";
import { type Logger, makeSafeLogger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import type { ContactEventInput } from "../contract/contact-event.js";
import type { AnyEvent } from "../protocol/event.js";
import { WHOLE_CHARACTERS } from "../protocol/envelope.js";
import type { CommitFunction, CommitTransaction } from "../store/commit-transaction.js";
import type { Store } from "../store/store.js";
import type { Lease, LeasedWork } from "../store/work.js";
import type { ComparableOutboxEvent, NewOutboxEvent } from "../store/outbox.js";
import {
  type ContactEventRecorder,
  RunRecords,
  apiNotConfigured,
  toOutboxEvent,
  readRecordKey,
} from "../outbox/contact-event-record.js";
import { type KeyOwner, deriveIdempotencyKey } from "../outbox/idempotency-key.js";
import { type OnceInput, runOnce } from "./once.js";
import { isPassingFailure } from "../store/passing-failure.js";
import type { RunSpan } from "./run-observer.js";

/** Largest value of a step as JSON, in characters. */
const MAX_STEP_LENGTH = 64 * 1024;
/** Longest name of a step, in characters: with the handler's name it is indexed, where PostgreSQL takes 2.7 kB. */
const MAX_STEP_NAME_LENGTH = 500;

/** How the event was received. */
export interface DeliveryInfo {
  /** When the whole body was received, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** The signed time, in milliseconds since 1970. */
  readonly signedAt: number;
  /** Exact received bytes. */
  readonly rawBody: Uint8Array;
}

/** What a handler gets besides the event. `Tx` is what the receiver's store passes to the function of `commit`. */
export interface HandlerContext<Tx = CommitTransaction> {
  /**
   * 1 for the first run of this handler on this event. A run under which the store failed does not count, except each
   * third in a row.
   */
  readonly attempt: number;
  /** When the event was received and signed, and its exact bytes. */
  readonly delivery: DeliveryInfo;
  /** Aborted at `timeoutMs`, when the receiver stops, and when the lease is lost. Pass it to `fetch`. */
  readonly signal: AbortSignal;
  /** Logger with the event's id and type, the handler's name and the attempt. */
  readonly log: Logger;
  /** A key that is the same in every run of this handler on this event; one per label. Fits the service's rules. */
  readonly idempotencyKey: (label: string) => string;
  /**
   * Runs `fn` once per event and handler: a later attempt gets the value kept from the first success. The value must
   * survive JSON and have at most 64 K characters. `fn` may run again when the process dies before its value is kept.
   * Rejects with what `fn` throws, `invalid_argument` for a name that is not a string of at most 500 characters,
   * `duplicate_step`, `step_not_json`, `lease_lost`, or what the store fails with, such as `store_unreachable`: the run
   * then does not count, whatever the handler throws, and the work runs again when the store answers. Each third run
   * in a row under which the store failed counts.
   */
  readonly step: <Value>(name: string, fn: () => Value | Promise<Value>) => Promise<Value>;
  /**
   * Makes something that takes no idempotency key, and keeps it as a step of this name. The first run calls `create`.
   * A later run, if nothing was kept, calls `find` first, and `create` only when that gives undefined or null: the
   * process may have died, or the answer may have been lost, after the thing was made. So there is one of it, as long
   * as `find` sees whatever `create` made before. Pass `signal` to the calls in both, and record contact events after
   * them: a run that finds something does not record what `create` would have. Rejects like `step`, with what `find`
   * and `create` throw, and with `invalid_argument` without the two.
   */
  readonly once: <Value>(name: string, input: OnceInput<Value>) => Promise<Value>;
  /** Contact events, sent later exactly once. Needs the receiver's `api`. */
  readonly contactEvents: ContactEventRecorder;
  /**
   * The client of the option `api`. Its calls take effect at once, also when the run fails. Give
   * `contactEvents.send` and `contactEvents.sendBatch` a key: `{ idempotencyKey: ctx.idempotencyKey("welcome") }`. The
   * API has none for other calls. Make what has no natural key with `once`, and the others in a `step`. Throws
   * `api_not_configured` where there is none.
   */
  readonly api: Client;
  /**
   * Runs `fn` and marks the work done in one transaction: both or neither, also after a crash. Call it last and return
   * its promise. `fn` is called again when SQL of another handler ended their common transaction, so it should only
   * write. Rejects with what `fn` throws, `commit_async`, `transaction_ended`, `transaction_closed`, `lease_lost`,
   * or what the store fails with, as `step` does.
   */
  readonly commit: <Result>(fn: CommitFunction<Result, Tx>) => Promise<void>;
}

export interface ContextDeps {
  store: Store<unknown>;
  source: string;
  /** The receiver's client; undefined when it has none. */
  api: Client | undefined;
  logger: Logger;
  clock: Clock;
}

/** What a run is about, and its span where there is one. */
interface RunSubject {
  work: LeasedWork;
  event: Pick<AnyEvent, "type">;
  span: RunSpan | undefined;
}

/** The context of one run, with what the dispatcher needs to know afterwards. */
export class RunContext implements HandlerContext<unknown> {
  readonly attempt: number;
  /** The requested commit, if any. */
  pendingCommit: Promise<void> | undefined;
  /** How the store failed first under this run, in a way that passes. */
  storeFailure: PigeonholeError | undefined;
  readonly #work: LeasedWork;
  readonly #handler: string;
  readonly #event: Pick<AnyEvent, "type">;
  readonly #span: RunSpan | undefined;
  readonly #deps: ContextDeps;
  #stepsOfThisRun: Set<string> | undefined;
  /** One time for all records of the run, so that the same record made twice is the same. */
  readonly #begunAt: number;
  #records: RunRecords | undefined;
  #isOver = false;
  #kept: Promise<Record<string, string>> | undefined;
  #abort: AbortController | undefined;
  #aborted: Error | undefined;
  #log: Logger | undefined;

  constructor({ work, event, span }: RunSubject, deps: ContextDeps) {
    this.attempt = work.attempt;
    this.#work = work;
    this.#handler = work.handler;
    this.#event = event;
    this.#span = span;
    this.#deps = deps;
    this.#begunAt = deps.clock.now();
  }

  // Members are created when they are used: most handlers use few, and runs are many. Functions are bound to their
  // context, so that a handler may destructure it: async (event, { step, commit }) => …

  get delivery(): DeliveryInfo {
    const { receivedAt, signedAt, body } = this.#work;
    return { receivedAt, signedAt, rawBody: body };
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

  /** The event's id, as listed. */
  get eventId(): string {
    return this.#work.eventId;
  }

  isUnder({ seq, token }: Lease): boolean {
    return this.#work.seq === seq && this.#work.token === token;
  }

  get log(): Logger {
    this.#log ??= this.#deps.logger.child({
      eventId: this.#work.eventId,
      eventType: this.#event.type,
      handler: this.#handler,
      attempt: this.attempt,
    });
    return this.#log;
  }

  /** True when a step of this or an earlier run may be in the store. */
  get mayHaveSteps(): boolean {
    return this.#kept !== undefined || this.attempt > 1;
  }

  /** The run is over: returns its contact events, if any, and refuses further ones, which would not be stored. */
  end(): readonly NewOutboxEvent[] | undefined {
    this.#isOver = true;
    return this.#records?.all;
  }

  get idempotencyKey(): HandlerContext["idempotencyKey"] {
    return (label) => deriveIdempotencyKey(this.#keyOwner(), label);
  }

  get step(): HandlerContext["step"] {
    return (name, fn) => this.#runStep(name, fn);
  }

  get once(): HandlerContext["once"] {
    return (name, input) => runOnce(this, name, input);
  }

  get commit(): HandlerContext<unknown>["commit"] {
    return (fn) => this.#runCommit(fn);
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
    checkStepName(name);
    this.#stepsOfThisRun ??= new Set();
    if (this.#stepsOfThisRun.has(name)) {
      throw new PigeonholeError(
        "duplicate_step",
        `Step "${name}" of handler "${this.#handler}" was used twice in one run.`,
      );
    }
    this.#stepsOfThisRun.add(name);
    // Also in attempt 1: the inbox's retry starts the count again and keeps the steps.
    this.#kept ??= this.#deps.store.loadSteps(this.#work);
    const kept = await this.#watched(this.#kept);
    const before = Object.hasOwn(kept, name) ? kept[name] : undefined;
    if (before !== undefined) return this.#repeatStep(before) as Value;

    const recordedBefore = this.#records?.all?.length ?? 0;
    const value = await fn();
    // Records of concurrent code may be among them, which does no harm: a record made twice is one.
    const records = this.#records?.all?.slice(recordedBefore);
    const { seq, handler, token } = this.#work;
    const text = this.#stepJson(name, value, records);
    const saving = this.#deps.store.saveStep({ seq, handler, token }, name, text, this.#deps.clock.now());
    const saved = await this.#watched(saving);
    if (saved === "lost") {
      throw new PigeonholeError(
        "lease_lost",
        `The lease of handler "${handler}" ended before step "${name}" was kept.`,
      );
    }
    return value;
  }

  #runCommit(fn: (tx: unknown) => unknown): Promise<void> {
    if (this.pendingCommit !== undefined) {
      const refused = Promise.reject<void>(
        new PigeonholeError("commit_twice", `Handler "${this.#handler}" called ctx.commit twice in one run.`),
      );
      // The handler may not await it. The process must not end then, and the loss of these writes must be logged.
      refused.catch(() => makeSafeLogger(this.log).error({ code: "commit_twice" }, "commit_refused"));
      return refused;
    }
    const { seq, handler, token } = this.#work;
    const dropSteps = this.mayHaveSteps;
    const isLate = this.#isOver;
    this.pendingCommit = this.#deps.store.commit(
      { seq, handler, token, to: "done", at: this.#deps.clock.now(), dropSteps, records: this.#records?.all },
      fn,
      this.signal,
    );
    // A handler that throws instead of awaiting this must not end the process by an unhandled rejection.
    this.pendingCommit.catch((error: unknown) => {
      this.#noteFailure(error);
      // Called by a handler that continues after its run: only this line reports that these writes are lost.
      if (isLate) makeSafeLogger(this.log).error({ code: "run_ended" }, "commit_refused");
    });
    return this.pendingCommit;
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
    if (this.#isOver) {
      // The error may reach no caller when a handler continues after its run.
      makeSafeLogger(this.log).error({ code: "run_ended" }, "record_refused");
      throw new PigeonholeError(
        "run_ended",
        `Handler "${this.#handler}" recorded a contact event after its run had ended. Await all that it does before it returns.`,
      );
    }
    // Measured by now, not by the begin of the run: what happened since then is not in the future.
    const times = { nowMs: clock.now(), defaultMs: this.#begunAt };
    const trace = this.#span?.trace;
    this.#addRecord(toOutboxEvent(event, { owner: this.#keyOwner(), label, trace, ...times }));
  }

  #keyOwner(): KeyOwner {
    return { source: this.#deps.source, eventId: this.#work.eventId, handler: this.#handler };
  }

  /** The value of a finished step; what was recorded in it is recorded again. */
  #repeatStep(text: string): unknown {
    const { value, records = [] } = JSON.parse(text) as { value: unknown; records?: ComparableOutboxEvent[] };
    if (records.length > 0 && this.#isOver) {
      // The step may not be awaited, so an error here could end the process.
      makeSafeLogger(this.log).error({ code: "run_ended" }, "record_refused");
      return value;
    }
    for (const record of records) this.#addRecord(record);
    return value;
  }

  #addRecord(record: ComparableOutboxEvent): void {
    this.#records ??= new RunRecords();
    this.#records.add(record);
  }

  #stepJson(name: string, value: unknown, records: readonly ComparableOutboxEvent[] | undefined): string {
    let text: string;
    try {
      text = JSON.stringify({ value });
    } catch (error) {
      throw new PigeonholeError("step_not_json", `The value of step "${name}" cannot be written as JSON.`, {
        cause: error,
      });
    }
    if (text.length > MAX_STEP_LENGTH) {
      throw new PigeonholeError(
        "step_not_json",
        `The value of step "${name}" has ${text.length} characters as JSON; ${MAX_STEP_LENGTH} is the most. Keep a reference instead.`,
      );
    }
    // Records do not count towards the limit: each has one of its own.
    return records === undefined || records.length === 0 ? text : JSON.stringify({ value, records });
  }
}

/** The store would change a number or half a surrogate pair in a name, and each attempt would repeat the step. */
function checkStepName(name: unknown): void {
  if (typeof name !== "string" || !WHOLE_CHARACTERS.test(name)) {
    throw new PigeonholeError(
      "invalid_argument",
      `A step's name must be a string of whole characters, got ${typeof name === "string" ? JSON.stringify(name) : typeof name}.`,
    );
  }
  if (name.length <= MAX_STEP_NAME_LENGTH) return;
  throw new PigeonholeError(
    "invalid_argument",
    `A step's name may have ${MAX_STEP_NAME_LENGTH} characters, got ${name.length}. Name it for what it does, and keep data in its value.`,
  );
}
