import { type Clock, MAX_NODE_TIMER, waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type Logger, silentLogger } from "../base/logger.js";
import { type Changes, type OptionsOf, defineOptions, given, readBy, required, wholeNumber } from "../base/options.js";
import type { Random } from "../base/random.js";
import type { PathOverrides } from "../contract/bind-operations.js";
import { EVENT_LIMITS } from "../contract/contact-event.js";
import type { CredentialShape } from "../contract/credential-shape.js";
import type { FetchFunction } from "./attempt.js";
import { type ApiKeyOption, Credential } from "./credential.js";
import { RateLimiter } from "./rate-limiter.js";
import { MAX_RETRY_AFTER_MS } from "./retry.js";
import type { RunCallDeps } from "./run-call.js";

/** The options of `createClient`. */
export interface ClientOptions {
  /**
   * An API key or an OAuth access token, or a function that reads it where it is kept. The function is called at the
   * first call, and at most once a second when the key is refused; with another key the call is sent again. A call
   * waits `timeoutMs` for it.
   */
  apiKey: ApiKeyOption;
  /**
   * The URL that the paths of the API are relative to: https, or http on this machine. On this machine it is an
   * emulator, so the client lets any http or https URL of an endpoint pass.
   */
  baseUrl: string;
  /**
   * Longest time of one attempt, including reading the answer, in milliseconds; of a file that is uploaded or
   * downloaded, the longest time without a byte. A call for which the service documents a longer one gets that.
   *
   * @default 30,000
   */
  timeoutMs?: number | undefined;
  /** Retries after the first attempt, of calls that can be repeated without a second effect. @default 2 */
  maxRetries?: number | undefined;
  /** Contact events that the service takes per key; two clients of one key must share it. @default 600 */
  eventsPerMinute?: number | undefined;
  /** Largest answer that is read, in bytes. @default 5 MiB */
  maxAnswerBytes?: number | undefined;
  /** How the key is sent, if the service expects it otherwise. @default `Authorization: Bearer <key>` */
  credential?: Changes<CredentialShape> | undefined;
  /** Paths that the service's documentation does not show, if the assumed ones are wrong. */
  paths?: PathOverrides | undefined;
  /** Header with the service's id of the request. @default "x-request-id" */
  requestIdHeader?: string | undefined;
  /** Receives log lines about retries; never inputs, answers or the key. @default silent */
  logger?: Logger | undefined;
  /** Makes the requests. @default the machine's `fetch` */
  fetch?: FetchFunction | undefined;
  /** All times and waits, for tests. @default the machine's clock */
  clock?: Clock | undefined;
  /** Numbers from 0 up to 1 for the jitter of waits, for tests. @default Math.random */
  random?: Random | undefined;
}

/** The defaults and checks of {@link ClientOptions}. */
export const CLIENT_OPTIONS = defineOptions("createClient", {
  // These four are checked by what is made of them.
  apiKey: required<ApiKeyOption>(),
  baseUrl: required<string>(),
  credential: given<Changes<CredentialShape>>(),
  paths: given<PathOverrides>(),
  // At most 24 days, the longest timer.
  timeoutMs: wholeNumber({ default: 30 * SECOND, min: 1, max: MAX_NODE_TIMER }),
  maxRetries: wholeNumber({ default: 2, min: 0 }),
  eventsPerMinute: wholeNumber({ default: EVENT_LIMITS.eventsPerMinute, min: 1 }),
  maxAnswerBytes: wholeNumber({ default: 5 * 1024 * 1024, min: 1 }),
  requestIdHeader: readBy(checkHeaderName, { default: "x-request-id" }),
  logger: given<Logger>({ default: silentLogger }),
  fetch: given<FetchFunction>({ default: (url, init) => fetch(url, init) }),
  clock: given<Clock>(),
  random: given<Random>({ default: Math.random }),
} satisfies OptionsOf<ClientOptions>);

/** The options, checked and filled in. */
export interface ResolvedClient {
  deps: RunCallDeps;
  baseUrl: string;
  /** True for an API on this machine, which is an emulator. */
  isLocal: boolean;
}

/** Fills in defaults; throws `invalid_option` naming the option. */
export function resolveClientOptions(options: ClientOptions): ResolvedClient {
  const { apiKey, baseUrl, credential, paths: _, eventsPerMinute, clock, ...rest } = CLIENT_OPTIONS.resolve(options);
  // Uses elapsed time, so that setting the machine's clock does not change the rate.
  const limiterClock = clock ?? { ...waitingClock, now: () => performance.now() };
  const resolvedUrl = resolveBaseUrl(baseUrl);
  return {
    baseUrl: resolvedUrl,
    isLocal: isOnThisMachine(resolvedUrl),
    deps: {
      ...rest,
      maxRetryAfterMs: MAX_RETRY_AFTER_MS,
      credential: new Credential(apiKey, credential),
      limiter: new RateLimiter({ clock: limiterClock, perMinute: eventsPerMinute, burst: EVENT_LIMITS.batchSize }),
      clock: clock ?? waitingClock,
    },
  };
}

function checkHeaderName(option: string, name: string): string {
  if (/^[A-Za-z0-9-]{1,100}$/.test(name)) return name;
  throw new PigeonholeError("invalid_option", `${option} is not the name of an HTTP header.`);
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * The base URL without a slash at its end. Throws `invalid_option` unless it is https, or http on this machine, without
 * credentials, query and fragment.
 */
function resolveBaseUrl(baseUrl: string): string {
  const refuse = (what: string): never => {
    throw new PigeonholeError("invalid_option", `baseUrl ${what}`);
  };
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    return refuse("is not a URL. Is the environment variable set?");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("must be an https URL.");
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    return refuse("must be https: over http the API key would be readable on the way. http is for localhost only.");
  }
  if (url.username !== "" || url.password !== "") return refuse("must not hold credentials; use apiKey.");
  if (url.search !== "" || url.hash !== "") return refuse("must not have a query or a fragment.");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** True for a resolved base URL on this machine: what answers there is an emulator, or a way to one. */
function isOnThisMachine(baseUrl: string): boolean {
  return LOOPBACK.test(new URL(baseUrl).hostname);
}
