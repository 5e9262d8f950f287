import { describeThrown } from "../base/describe-thrown.js";
import { type ErrorCode, type PigeonholeError, isPigeonholeError } from "../base/error.js";
import type { Random } from "../base/random.js";
import type { ApiError } from "../client/errors.js";
import type { NewOutboxEvent } from "../store/outbox.js";
import type { DeadReason, LeasedWork, RunWait, Settlement } from "../store/work.js";
import type { RegisteredHandler } from "./handler.js";
import { DAY, SECOND } from "../base/duration.js";
import { DoNotRetry, RetryAfter, nextAttemptAt, spanOf } from "./retry-policy.js";

/** How a run ended. `committed`: the work was settled inside `ctx.commit`. */
export type RunEnd =
  | { kind: "done" }
  | { kind: "committed" }
  /** The lease ended while the handler ran; its new holder settles the work. */
  | { kind: "lost" }
  /** The store failed under it, for a time: the handler has not failed, and its work runs again. */
  | { kind: "interrupted"; error: PigeonholeError }
  | { kind: "failed"; error: unknown }
  /** The receiver stopped before the handler was done. */
  | { kind: "stopped"; error: Error };

/** Ends of a run that did not do its work. */
export type Unfinished = Extract<RunEnd, { kind: "failed" | "stopped" }>;

/**
 * Mistakes in a handler after which its work is dead at once: no later attempt of the same code on the same event can
 * succeed, or each would repeat what it has done. All other errors are retried.
 */
export const FATAL_MISTAKES = [
  // The options of the receiver are the same in each attempt.
  "api_not_configured",
  // The function is the same in each attempt.
  "commit_async",
  // Nothing was kept, so each attempt would repeat the effects of the step.
  "step_not_json",
] as const satisfies readonly ErrorCode[];

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

  const dueAt = decision?.dueAt(now);
  const wait = decision && dueAt !== undefined ? freeWait(decision, { ...run, dueAt }) : undefined;
  if (dueAt !== undefined && wait !== undefined) return { ...ended, to: "pending", dueAt, wait };

  const failures = work.failures + 1;
  const backoffDueAt = nextAttemptAt(handler.retry, failures, now, run.random);
  if (backoffDueAt === undefined) return { ...failed, to: "dead", reason: "attempts_spent" };
  // A handler that asks for a short wait wants that; one whose free waits are over needs those of the policy as well.
  const isShort = dueAt !== undefined && dueAt - now < MIN_FREE_WAIT_MS;
  return { ...failed, to: "pending", dueAt: isShort ? dueAt : Math.max(dueAt ?? 0, backoffDueAt) };
}

/** A shorter wait spends an attempt: a handler that asks for none would run all the time. */
const MIN_FREE_WAIT_MS = SECOND;
/** What the service, or something in front of it, asks for at most. */
const MAX_SERVICE_WAIT_MS = DAY;

/** The wait, if it spends no attempt: the first one of the work began within the span of the policy. */
function freeWait(
  { holds }: RetryAfter,
  { work, handler, now, dueAt }: { work: LeasedWork; handler: RegisteredHandler; now: number; dueAt: number },
): RunWait | undefined {
  // A time in the future is from a clock that has since been set back.
  const began = Math.min(work.waitBegan ?? now, now);
  const isOver = now - began >= spanOf(handler.retry);
  return isOver || dueAt - now < MIN_FREE_WAIT_MS ? undefined : { holds, began };
}

/** Why the work is dead at once, or when it runs again, if what was thrown says so. */
function decisionOf(error: unknown): DeadReason | RetryAfter | undefined {
  // A thrown value can make even `instanceof` throw.
  try {
    if (error instanceof DoNotRetry) return "do_not_retry";
    return error instanceof RetryAfter ? error : (fatalMistakeOf(error) ?? waitOfService(error));
  } catch {
    return undefined;
  }
}

/** The wait that the service asked our client for, unless it is too short to be one. */
function waitOfService(error: unknown): RetryAfter | undefined {
  if (!isPigeonholeError(error)) return undefined;
  const { status, retryAfterMs } = error as Partial<Pick<ApiError, "status" | "retryAfterMs">>;
  if ((status !== 429 && status !== 503) || retryAfterMs === undefined) return undefined;
  if (retryAfterMs < MIN_FREE_WAIT_MS) return undefined;
  return new RetryAfter(error.message, Math.min(retryAfterMs, MAX_SERVICE_WAIT_MS));
}

/** The code of what was thrown, which may be of the service, if no later attempt can succeed. */
function fatalMistakeOf(error: unknown): (typeof FATAL_MISTAKES)[number] | undefined {
  return isPigeonholeError(error) ? FATAL_MISTAKES.find((code) => code === error.code) : undefined;
}
