import type { Random } from "../base/random.js";
import type { NewOutboxEvent } from "../store/outbox.js";
import type { DeadReason, LeasedWork, Settlement } from "../store/work.js";
import { describeThrown } from "./describe-thrown.js";
import type { RunEnd, Unfinished } from "./handler-run.js";
import type { RegisteredHandler } from "./handler.js";
import { fatalMistakeOf } from "./mistakes.js";
import { DoNotRetry, RetryAfter, nextAttemptAt } from "./retry-policy.js";

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
  const { error, stack } = describeThrown(end.error);
  const ended = { seq, handler: work.handler, token, at: now, dropSteps: false, error };
  // The handler did not fail: a stop must never use up its last attempt, nor pass for its first error.
  if (end.kind === "stopped") return { ...ended, to: "pending", dueAt: now };
  const failed = { ...ended, stack };
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
