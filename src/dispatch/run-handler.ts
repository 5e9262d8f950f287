import type { Expiring } from "../base/deadlines.js";
import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import type { Random } from "../base/random.js";
import type { AnyEvent } from "../protocol/event.js";
import type { NewOutboxEvent } from "../store/outbox.js";
import type { DeadReason, LeasedWork, Settlement } from "../store/work.js";
import type { RunContext } from "./context.js";
import type { RegisteredHandler } from "./handler.js";
import { fatalMistakeOf } from "./mistakes.js";
import { nextAttemptAt } from "./retry-policy.js";
import { DoNotRetry, RetryAfter } from "./throwables.js";

/** How a run ended. `committed`: the work was settled inside `ctx.commit`. */
export type RunEnd =
  | { kind: "done" }
  | { kind: "committed" }
  /** The lease ended while the handler ran; its new holder settles the work. */
  | { kind: "lost" }
  | { kind: "failed"; error: unknown }
  /** The receiver stopped before the handler was done. */
  | { kind: "stopped"; error: Error };

/** Longest error text kept in the inbox. */
const MAX_ERROR_LENGTH = 2_000;

/** Ends of a run that did not do its work. */
type Unfinished = Extract<RunEnd, { kind: "failed" | "stopped" }>;

const DONE: RunEnd = { kind: "done" };
const COMMITTED: RunEnd = { kind: "committed" };

/** A run of a handler until its end, its timeout or a stop: the first of them decides. */
export class HandlerRun implements Expiring {
  /** Never rejects. */
  readonly ended: Promise<RunEnd>;
  readonly #handler: RegisteredHandler;
  readonly #context: RunContext;
  #resolve: ((end: RunEnd | Promise<RunEnd>) => void) | undefined;

  /** Calls the handler. Nothing here holds the event longer than the handler does. */
  constructor(handler: RegisteredHandler, event: AnyEvent, context: RunContext) {
    this.#handler = handler;
    this.#context = context;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    void this.#call(event);
  }

  expire(): void {
    const { name, timeoutMs } = this.#handler;
    const text = `Handler "${name}" took longer than its timeoutMs of ${timeoutMs}.`;
    const error = new PigeonholeError("handler_timeout", text);
    this.#context.abort(error);
    this.#endAs({ kind: "failed", error });
  }

  stop(reason: Error): void {
    this.#context.abort(reason);
    this.#endAs({ kind: "stopped", error: reason });
  }

  async #call(event: AnyEvent): Promise<void> {
    const context = this.#context;
    try {
      await this.#handler.run(event, context);
      if (context.pendingCommit !== undefined) await context.pendingCommit;
    } catch (error) {
      this.#endAs({ kind: "failed", error });
      return;
    }
    this.#resolve?.(context.pendingCommit === undefined ? DONE : COMMITTED);
  }

  #endAs(end: Unfinished): void {
    const { pendingCommit } = this.#context;
    this.#resolve?.(pendingCommit === undefined ? end : endAfterCommit(pendingCommit, end));
  }
}

/** A commit that had started when the handler failed decides: what is committed is done, also after a later error. */
async function endAfterCommit(commit: Promise<void>, end: Unfinished): Promise<RunEnd> {
  try {
    await commit;
    return COMMITTED;
  } catch (commitError) {
    return isPigeonholeError(commitError, "lease_lost") ? { kind: "lost" } : end;
  }
}

/** The settlement of a run that is still to be written to the store. */
export function settlementOf(
  end: Extract<RunEnd, { kind: "done" }> | Unfinished,
  run: {
    work: LeasedWork;
    handler: RegisteredHandler;
    dropSteps: boolean;
    records: readonly NewOutboxEvent[] | undefined;
    now: number;
    random: Random;
  },
): Settlement {
  const { work, handler, now } = run;
  const { seq, token } = work;
  if (end.kind === "done") {
    return { seq, handler: work.handler, token, at: now, to: "done", dropSteps: run.dropSteps, records: run.records };
  }
  const error = describeError(end.error);
  const failed = { seq, handler: work.handler, token, at: now, dropSteps: false, error };
  // The handler did not fail: a stop must never use up its last attempt.
  if (end.kind === "stopped") return { ...failed, to: "pending", dueAt: now };
  const decision = decisionOf(end.error);
  if (typeof decision === "string") return { ...failed, to: "dead", reason: decision };

  const failures = work.failures + 1;
  const backoffDueAt = nextAttemptAt(handler.retry, failures, now, run.random);
  if (backoffDueAt === undefined) return { ...failed, to: "dead", reason: "attempts_spent" };
  const dueAt = decision instanceof RetryAfter ? decision.dueAt(now) : backoffDueAt;
  return { ...failed, to: "pending", dueAt };
}

/** Why the work is dead at once, or when it runs again, if what was thrown says so. */
function decisionOf(error: unknown): DeadReason | RetryAfter | undefined {
  // A thrown value can make even `instanceof` throw.
  try {
    if (error instanceof DoNotRetry) return "do_not_retry";
    return error instanceof RetryAfter ? error : fatalMistakeOf(error);
  } catch {
    return undefined;
  }
}

/** A thrown value can be anything, also one that cannot be converted to text. */
function describeError(error: unknown): string {
  try {
    const text =
      error instanceof Error ? `${error.name}: ${error.message}` : `A value that is not an Error: ${String(error)}`;
    return text.slice(0, MAX_ERROR_LENGTH);
  } catch {
    return "A value that cannot be shown as text.";
  }
}
