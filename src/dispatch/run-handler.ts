import type { Clock } from "../base/clock.js";
import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import type { Random } from "../base/random.js";
import type { AnyEvent } from "../protocol/event.js";
import type { NewOutboxEvent } from "../store/outbox.js";
import type { LeasedWork, Settlement } from "../store/work.js";
import type { RunContext } from "./context.js";
import type { RegisteredHandler } from "./handler.js";
import { nextAttemptAt } from "./retry-policy.js";
import { DoNotRetry, RetryAfter } from "./throwables.js";

/** How a run ended. `committed`: the work was settled inside `ctx.commit`. */
export type RunEnd =
  | { kind: "done" }
  | { kind: "committed" }
  /** The lease ended while the handler ran; somebody else settles the work. */
  | { kind: "lost" }
  | { kind: "failed"; error: unknown };

/** Longest error text kept in the inbox. */
const LONGEST_ERROR = 2_000;

export interface HandlerRun {
  handler: RegisteredHandler;
  event: AnyEvent;
  context: RunContext;
  clock: Clock;
  /** Gets a function that ends the run from outside. */
  onStop: (stop: (reason: Error) => void) => void;
}

/** Runs a handler to its end, its time-out, or until it is stopped: the first of them decides. Never rejects. */
export function runHandler({ handler, event, context, clock, onStop }: HandlerRun): Promise<RunEnd> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => {
      timer.cancel();
      if (context.pendingCommit === undefined) resolve({ kind: "failed", error });
      else resolve(endAfterCommit(context.pendingCommit, error));
    };
    const abandon = (reason: Error): void => {
      context.abort(reason);
      fail(reason);
    };
    const timer = clock.setTimer(() => {
      const text = `Handler "${handler.name}" took longer than its timeoutMs of ${handler.timeoutMs}.`;
      abandon(new PigeonholeError("handler_timeout", text));
    }, handler.timeoutMs);
    onStop(abandon);
    callHandler(handler, event, context).then(() => {
      timer.cancel();
      resolve(context.pendingCommit === undefined ? DONE : COMMITTED);
    }, fail);
  });
}

const DONE: RunEnd = { kind: "done" };
const COMMITTED: RunEnd = { kind: "committed" };

async function callHandler(handler: RegisteredHandler, event: AnyEvent, context: RunContext): Promise<void> {
  await handler.run(event, context);
  if (context.pendingCommit !== undefined) await context.pendingCommit;
}

/** A commit that was under way when the handler failed decides: what is committed is done, whatever came after. */
async function endAfterCommit(commit: Promise<void>, error: unknown): Promise<RunEnd> {
  try {
    await commit;
    return COMMITTED;
  } catch (commitError) {
    return isPigeonholeError(commitError, "lease_lost") ? { kind: "lost" } : { kind: "failed", error };
  }
}

/** The settlement of a run that the store still has to hear of. */
export function settlementOf(
  end: Extract<RunEnd, { kind: "done" | "failed" }>,
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
  if (end.error instanceof DoNotRetry) return { ...failed, to: "dead", reason: "do_not_retry" };

  // Not the handler's fault: a stop must never be what spends its last attempt.
  if (isPigeonholeError(end.error, "stopped")) return { ...failed, to: "pending", dueAt: now };

  const failures = work.failures + 1;
  const backoffDueAt = nextAttemptAt(handler.retry, failures, now, run.random);
  if (backoffDueAt === undefined) return { ...failed, to: "dead", reason: "attempts_spent" };
  const dueAt = end.error instanceof RetryAfter ? end.error.dueAt(now) : backoffDueAt;
  return { ...failed, to: "pending", dueAt };
}

/** Handlers throw anything, also what cannot be made a text. */
function describeError(error: unknown): string {
  try {
    const text =
      error instanceof Error ? `${error.name}: ${error.message}` : `A value that is no Error: ${String(error)}`;
    return text.slice(0, LONGEST_ERROR);
  } catch {
    return "A value that cannot be shown as text.";
  }
}
