import { type Clock, waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type Logger, silentLogger } from "../base/logger.js";
import { type OptionNames, checkOptionNames, checkWholeNumber } from "../base/option-check.js";
import type { Random } from "../base/random.js";
import { type BoundOperation, type PathOverrides, bindOperations } from "../contract/bind-operations.js";
import { EVENT_LIMITS } from "../contract/contact-event.js";
import type { CredentialShape } from "../contract/credential-shape.js";
import type { FetchFunction } from "./attempt.js";
import { resolveBaseUrl } from "./base-url.js";
import { Credential } from "./credential.js";
import { RateLimiter } from "./rate-limiter.js";
import type { RunCallDeps } from "./run-call.js";

export interface ClientOptions {
  /** An API key or an OAuth access token. */
  apiKey: string;
  /** What the paths of the API are relative to: https, or http on this machine. */
  baseUrl: string;
  /** Longest time of one attempt, including reading the answer, in milliseconds. @default 30,000 */
  timeoutMs?: number;
  /** Retries after the first attempt, of calls that only read or carry an idempotency key. @default 2 */
  maxRetries?: number;
  /** What the service allows per key; two clients of one key must share it. @default 600 */
  eventsPerMinute?: number;
  /** Largest answer that is read, in bytes. @default 5 MiB */
  maxAnswerBytes?: number;
  /** How the key is sent, if the service expects it otherwise. @default `Authorization: Bearer <key>` */
  credential?: Partial<CredentialShape>;
  /** Paths that the service's documentation does not show, if the assumed ones are wrong. */
  paths?: PathOverrides;
  /** Header with the service's id of the request. @default "x-request-id" */
  requestIdHeader?: string;
  /** Receives log lines about retries; never inputs, answers or the key. @default silent */
  logger?: Logger;
  /** @default the machine's `fetch` */
  fetch?: FetchFunction;
  /** @default the machine's clock */
  clock?: Clock;
  /** @default Math.random */
  random?: Random;
}

const OPTION_NAMES: OptionNames<ClientOptions> = {
  apiKey: true,
  baseUrl: true,
  timeoutMs: true,
  maxRetries: true,
  eventsPerMinute: true,
  maxAnswerBytes: true,
  credential: true,
  paths: true,
  requestIdHeader: true,
  logger: true,
  fetch: true,
  clock: true,
  random: true,
};

/** The options, checked and filled in. */
export interface ResolvedClient {
  deps: RunCallDeps;
  baseUrl: string;
  operations: readonly BoundOperation[];
}

/** Fills in defaults; throws `invalid_option` naming the option. */
export function resolveClientOptions(options: ClientOptions): ResolvedClient {
  checkOptionNames("createClient", options, OPTION_NAMES);
  const { timeoutMs = 30 * SECOND, maxRetries = 2, maxAnswerBytes = 5 * 1024 * 1024 } = options;
  const { eventsPerMinute = EVENT_LIMITS.eventsPerMinute, requestIdHeader = "x-request-id" } = options;
  const clock = options.clock ?? waitingClock;
  // Uses elapsed time, so that setting the machine's clock does not change the rate.
  const limiterClock = options.clock ?? { ...waitingClock, now: () => performance.now() };
  const perMinute = checkWholeNumber("eventsPerMinute", eventsPerMinute, { min: 1 });
  if (!/^[A-Za-z0-9-]{1,100}$/.test(requestIdHeader)) {
    throw new PigeonholeError("invalid_option", "requestIdHeader is not the name of an HTTP header.");
  }
  return {
    baseUrl: resolveBaseUrl(options.baseUrl),
    operations: bindOperations(options.paths),
    deps: {
      credential: new Credential(options.apiKey, options.credential),
      limiter: new RateLimiter({ clock: limiterClock, perMinute, burst: EVENT_LIMITS.batchSize }),
      // At most 24 days, the longest timer.
      timeoutMs: checkWholeNumber("timeoutMs", timeoutMs, { min: 1, max: 2 ** 31 - 1 }),
      maxRetries: checkWholeNumber("maxRetries", maxRetries, { min: 0 }),
      maxAnswerBytes: checkWholeNumber("maxAnswerBytes", maxAnswerBytes, { min: 1 }),
      requestIdHeader,
      logger: options.logger ?? silentLogger,
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      clock,
      random: options.random ?? Math.random,
    },
  };
}
