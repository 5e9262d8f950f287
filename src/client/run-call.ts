import { SECOND } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import type { Random } from "../base/random.js";
import { sleep, untilAborted } from "../base/wait.js";
import { type AttemptDeps, attempt } from "./attempt.js";
import { ApiError, AuthenticationError, RateLimitError } from "./errors.js";
import type { PreparedCall } from "./prepare-call.js";
import type { RateLimiter } from "./rate-limiter.js";
import { readAnswer } from "./read-answer.js";
import { MAX_RETRY_AFTER_MS, retryWait } from "./retry.js";

export interface RunCallDeps extends AttemptDeps {
  limiter: RateLimiter;
  maxRetries: number;
  maxRetryAfterMs: number;
  requestIdHeader: string;
  logger: Logger;
  random: Random;
}

/** What one try works with; `attempts` is its number, 1 for the first. */
type TryDeps = RunCallDeps & { attempts: number };

/** How long sending of events pauses after a 429 without Retry-After. */
const DEFAULT_PAUSE_MS = SECOND;

/** Sends a call, with retries, until the result is final. */
export async function runCall(call: PreparedCall, deps: RunCallDeps): Promise<unknown> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await sendWithKey(call, { ...deps, attempts: retries + 1 });
    } catch (error) {
      if (call.events > 0 && error instanceof RateLimitError) pauseAll(error, deps);
      const waitMs = retryWait({ ...deps, error, retries, isRepeatable: call.isRepeatable });
      if (waitMs === undefined) throw error;
      // Logs the name of the call and not its path, which can contain an address.
      const status = error instanceof ApiError ? error.status : null;
      deps.logger.debug({ call: call.call, status, retry: retries + 1, waitMs }, "api_call_retried");
      await sleep(deps.clock, waitMs, call.signal);
    }
  }
}

/** Sends a call once, and once more when its key was replaced meanwhile: a call that is answered 401 did nothing. */
async function sendWithKey(call: PreparedCall, deps: TryDeps): Promise<unknown> {
  const { credential, clock } = deps;
  const { signal } = call;
  if (call.operation.credential === "none") return sendOnce(call, deps, {});
  const input = { call: call.call, clock, timeoutMs: timeoutOf(call, deps) };
  if (credential.isUnread) await untilAborted(credential.read(input), signal);
  const key = credential.header();
  try {
    return await sendOnce(call, deps, key);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    const isReplaced = await untilAborted(credential.renew(key, input), signal);
    // The bytes of an upload may be gone.
    if (!isReplaced || call.request.upload !== undefined) throw error;
    deps.logger.info({ call: call.call }, "api_key_changed");
    return sendOnce(call, deps, credential.header());
  }
}

async function sendOnce(call: PreparedCall, deps: TryDeps, key: Record<string, string>): Promise<unknown> {
  if (call.events > 0) await deps.limiter.take(call.events, call.signal);
  const { request, signal, operation } = call;
  const headers = { ...request.headers, ...key };
  const timeoutMs = timeoutOf(call, deps);
  const answer = await attempt({ ...request, headers }, signal, { ...deps, timeoutMs });
  return readAnswer(call.call, operation, answer, { ...deps, nowMs: deps.clock.now() });
}

function timeoutOf({ operation }: PreparedCall, deps: RunCallDeps): number {
  return Math.max(deps.timeoutMs, operation.timeoutMs ?? 0);
}

/** All calls share one limit, so one refusal pauses them all. */
function pauseAll({ retryAfterMs = DEFAULT_PAUSE_MS }: RateLimitError, { limiter }: RunCallDeps): void {
  limiter.pause(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}
