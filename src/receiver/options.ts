import { pino } from "pino";
import { type Clock, systemClock } from "../base/clock.js";
import { DAY, MINUTE, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type Logger, makeSafeLogger } from "../base/logger.js";
import { type OptionNames, checkOptionNames, checkWholeNumber } from "../base/option-check.js";
import { type RememberingClock, createRememberingClock } from "../base/remembering-clock.js";
import type { Random } from "../base/random.js";
import type { Client } from "../client/call-types.js";
import { createClient } from "../client/create-client.js";
import type { ClientOptions } from "../client/options.js";
import { type RetryPolicy, resolveRetry } from "../dispatch/retry-policy.js";
import type { SignatureAssumptions } from "../protocol/assumptions.js";
import type { SchemaMap } from "../protocol/event.js";
import { LIMITS } from "../protocol/limits.js";
import type { UnverifiedPolicy } from "../protocol/outcome.js";
import { resolveSignatureAssumptions } from "../protocol/resolve-assumptions.js";
import { createSqliteStore } from "../store/sqlite/sqlite-store.js";
import type { Store } from "../store/store.js";
import type { Alarm } from "./alarms.js";
import type { SecretsOption } from "./secret-source.js";

/** How long the inbox remembers. */
export interface Retention {
  /**
   * How long an id is known as a duplicate, in milliseconds; at least 7 days, since the last attempt may come after 55
   * hours. @default 90 days
   */
  idsMs: number;
  /** How long bodies of settled events are kept for retries and replays, in milliseconds. @default as long as ids */
  bodiesMs: number;
}

export interface ReceiverOptions<Schemas extends SchemaMap = SchemaMap> {
  /**
   * The endpoint's secret, whole with `whsec_`; several (newest first) or a function bridge a rotation, which has no
   * overlap. The function has 30 s at start. Later it is called when a signature matches none, every 5 s at most: a
   * delivery waits 2 s for it and is then answered 503, as when it fails; a late result is used for later deliveries.
   */
  secrets: SecretsOption;
  /**
   * Path of the SQLite file, `:memory:` for tests, or a store of your own, for this receiver alone.
   * @default "pigeonhole.db"
   */
  store?: string | Store;
  /** How contact events are sent: options of `createClient`, or a client. Needed only for them. */
  api?: ClientOptions | Client;
  /** Zod schemas of `event.data` by type: checked before a handler runs, and they type the handler's event. */
  schemas?: Schemas;
  /** Greatest accepted age of a signature both ways, in seconds. @default 300 */
  toleranceSeconds?: number;
  /**
   * The answer when a signature does not fit or cannot be read: `retry` 503, so that nothing is lost; `reject` 401.
   * @default "retry"
   */
  unverified?: UnverifiedPolicy;
  /**
   * Largest body in bytes; larger ones are answered 413, which is final. All bodies being received may have 160 MiB
   * together; above that they are answered 503. @default 5 MiB
   */
  maxBodyBytes?: number;
  /** Longest time a body may take to arrive, in milliseconds; the service gives up after 5 s. @default 5,000 */
  bodyTimeoutMs?: number;
  /**
   * Deliveries that were read and wait for the disk, the secrets or the start; at this number further ones are answered
   * 503. @default 1,000
   */
  highWaterMark?: number;
  /** Most handlers running at once. @default 16 */
  concurrency?: number;
  /** Changes to the default of 14 runs over about 23 hours. */
  retry?: Partial<RetryPolicy>;
  /** How long the inbox remembers. @default 90 days */
  retention?: Partial<Retention>;
  /** Names this receiver in idempotency keys; two receivers on one API key need two. @default "default" */
  source?: string;
  /** Details of the signature that the service does not document. @default SIGNATURE_ASSUMPTIONS */
  signature?: Partial<SignatureAssumptions>;
  /** A pino logger, or one like it. @default pino at level info, to standard output */
  logger?: Logger;
  /**
   * Adds messages of handlers' errors to the log; they may quote event data. The inbox has them in any case.
   * @default false
   */
  logErrorMessages?: boolean;
  /** Called for what a person should look at, each kind at most once a minute. */
  onAlarm?: (alarm: Alarm) => unknown;
  /** Raises the alarm `silence` when nothing was accepted for this long, in milliseconds. @default never */
  silenceAfterMs?: number;
  /**
   * Raises the alarm `backlog` when work has been due for longer, and `contact_events_stuck` when a contact event has
   * waited for longer, in milliseconds. @default 15 minutes
   */
  backlogAfterMs?: number;
  /** Spans and metrics where `@opentelemetry/api` is installed. @default true */
  telemetry?: boolean;
  /** All times and waits, for tests. @default the machine's clock */
  clock?: Clock;
  /** Numbers from 0 up to 1 for the jitter of waits, for tests. @default Math.random */
  random?: Random;
}

const OPTION_NAMES: OptionNames<ReceiverOptions> = {
  secrets: true,
  store: true,
  api: true,
  schemas: true,
  toleranceSeconds: true,
  unverified: true,
  maxBodyBytes: true,
  bodyTimeoutMs: true,
  highWaterMark: true,
  concurrency: true,
  retry: true,
  retention: true,
  source: true,
  signature: true,
  logger: true,
  logErrorMessages: true,
  onAlarm: true,
  silenceAfterMs: true,
  backlogAfterMs: true,
  telemetry: true,
  clock: true,
  random: true,
};
const RETENTION_NAMES: OptionNames<Retention> = { idsMs: true, bodiesMs: true };

/** The options, checked and filled in. */
export interface ResolvedOptions {
  store: Store;
  api: Client | undefined;
  schemas: SchemaMap;
  toleranceSeconds: number;
  unverified: UnverifiedPolicy;
  maxBodyBytes: number;
  bodyTimeoutMs: number;
  highWaterMark: number;
  concurrency: number;
  retry: RetryPolicy;
  retention: Retention;
  source: string;
  signature: SignatureAssumptions;
  logger: Logger;
  logErrorMessages: boolean;
  onAlarm: ((alarm: Alarm) => unknown) | undefined;
  silenceAfterMs: number | undefined;
  backlogAfterMs: number;
  telemetry: boolean;
  clock: RememberingClock;
  random: Random;
}

const DEFAULT_MAX_BODY_BYTES = 5 * 1024 * 1024;
const DEFAULT_IDS_MS = 90 * DAY;
/** Attempts can spread over 55 h; a week leaves room for a replay by hand. */
const MIN_IDS_MS = 7 * DAY;

/** Fills in defaults; throws `invalid_option` naming the option. Secrets are checked by their source. */
export function resolveOptions(options: ReceiverOptions): ResolvedOptions {
  checkOptionNames("createReceiver", options, OPTION_NAMES);
  const { toleranceSeconds = LIMITS.toleranceSeconds, unverified = "retry" } = options;
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES, bodyTimeoutMs = 5 * SECOND } = options;
  const { highWaterMark = 1_000, concurrency = 16, silenceAfterMs, source = "default" } = options;
  const { backlogAfterMs = 15 * MINUTE } = options;
  if (unverified !== "retry" && unverified !== "reject") {
    throw new PigeonholeError("invalid_option", `unverified must be "retry" or "reject", got "${String(unverified)}".`);
  }
  if (typeof source !== "string" || source === "") {
    throw new PigeonholeError("invalid_option", "source must be a text that is not empty.");
  }
  return {
    store: resolveStore(options.store ?? "pigeonhole.db"),
    api: resolveApi(options),
    schemas: options.schemas ?? {},
    toleranceSeconds: checkWholeNumber("toleranceSeconds", toleranceSeconds, { min: 1, max: (7 * DAY) / SECOND }),
    unverified,
    maxBodyBytes: checkWholeNumber("maxBodyBytes", maxBodyBytes, { min: 1 }),
    bodyTimeoutMs: checkWholeNumber("bodyTimeoutMs", bodyTimeoutMs, { min: 1 }),
    highWaterMark: checkWholeNumber("highWaterMark", highWaterMark, { min: 1 }),
    concurrency: checkWholeNumber("concurrency", concurrency, { min: 1 }),
    retry: resolveRetry("retry", options.retry),
    retention: resolveRetention(options.retention ?? {}),
    source,
    signature: resolveSignatureAssumptions(options.signature, "signature"),
    logger: makeSafeLogger(options.logger ?? pino({ name: "pigeonhole" })),
    logErrorMessages: options.logErrorMessages ?? false,
    onAlarm: options.onAlarm,
    silenceAfterMs:
      silenceAfterMs === undefined ? undefined : checkWholeNumber("silenceAfterMs", silenceAfterMs, { min: 1 }),
    backlogAfterMs: checkWholeNumber("backlogAfterMs", backlogAfterMs, { min: 1 }),
    telemetry: options.telemetry ?? true,
    clock: createRememberingClock(options.clock ?? systemClock),
    random: options.random ?? Math.random,
  };
}

function resolveApi({ api, clock, random, logger }: ReceiverOptions): Client | undefined {
  if (api === undefined || "contactEvents" in api) return api;
  return createClient({ ...(clock && { clock }), ...(random && { random }), ...(logger && { logger }), ...api });
}

function resolveStore(store: string | Store): Store {
  if (typeof store !== "string") return store;
  if (store === "")
    throw new PigeonholeError("invalid_option", 'store must be the path of a file, ":memory:", or a Store.');
  return createSqliteStore({ file: store });
}

function resolveRetention(given: Partial<Retention>): Retention {
  checkOptionNames("retention", given, RETENTION_NAMES);
  const { idsMs = DEFAULT_IDS_MS, bodiesMs = idsMs } = given;
  checkWholeNumber("retention.idsMs", idsMs, { min: MIN_IDS_MS });
  checkWholeNumber("retention.bodiesMs", bodiesMs, { min: 0, max: idsMs });
  return { idsMs, bodiesMs };
}
