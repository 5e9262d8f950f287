import type { Clock } from "../base/clock.js";
import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import type { Random } from "../base/random.js";
import type { AnyEvent } from "../protocol/event.js";
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

/** Runs a handler to its end, its time-out, or `stopped`. Never rejects. */
export async function runHandler(run: {
  handler: RegisteredHandler;
  event: AnyEvent;
  context: RunContext;
  clock: Clock;
  /** Gets a function that ends the run from outside. */
  onStop: (stop: (reason: Error) => void) => void;
}): Promise<RunEnd> {
  const { handler, event, context, clock } = run;
  let giveUp: (reason: Error) => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => (giveUp = reject));
  const abandon = (reason: Error): void => {
    context.abort(reason);
    giveUp(reason);
  };
  run.onStop(abandon);
  const timer = clock.setTimer(() => {
    const text = `Handler "${handler.name}" took longer than its timeoutMs of ${handler.timeoutMs}.`;
    abandon(new PigeonholeError("handler_timeout", text));
  }, handler.timeoutMs);

  try {
    await Promise.race([callHandler(handler, event, context), givenUp]);
    return { kind: context.pendingCommit === undefined ? "done" : "committed" };
  } catch (error) {
    return endOfFailure(error, context);
  } finally {
    timer.cancel();
  }
}

async function callHandler(handler: RegisteredHandler, event: AnyEvent, context: RunContext): Promise<void> {
  await handler.run(event, context);
  await context.pendingCommit;
}

/** A commit that was under way when the handler failed decides: what is committed is done, whatever came after. */
async function endOfFailure(error: unknown, context: RunContext): Promise<RunEnd> {
  if (context.pendingCommit === undefined) return { kind: "failed", error };
  try {
    await context.pendingCommit;
    return { kind: "committed" };
  } catch (commitError) {
    return isPigeonholeError(commitError, "lease_lost") ? { kind: "lost" } : { kind: "failed", error };
  }
}

/** The settlement of a run that the store still has to hear of. */
export function settlementOf(
  end: Extract<RunEnd, { kind: "done" | "failed" }>,
  run: { work: LeasedWork; handler: RegisteredHandler; dropSteps: boolean; now: number; random: Random },
): Settlement {
  const { work, handler, now } = run;
  const lease = { seq: work.seq, handler: work.handler, token: work.token, at: now };
  if (end.kind === "done") return { ...lease, to: "done", dropSteps: run.dropSteps };
  const failed = { ...lease, dropSteps: false, error: describeError(end.error) };
  if (end.error instanceof DoNotRetry) return { ...failed, to: "dead", reason: "do_not_retry" };

  const failures = work.failures + 1;
  const backoffDueAt = nextAttemptAt(handler.retry, failures, now, run.random);
  if (backoffDueAt === undefined) return { ...failed, to: "dead", reason: "attempts_spent" };
  const dueAt = end.error instanceof RetryAfter ? end.error.dueAt(now) : backoffDueAt;
  return { ...failed, to: "pending", dueAt };
}

function describeError(error: unknown): string {
  const text =
    error instanceof Error ? `${error.name}: ${error.message}` : `A value that is no Error: ${String(error)}`;
  return text.slice(0, LONGEST_ERROR);
}
