import { pino } from "pino";
import { type Clock, systemClock } from "../base/clock.js";
import { DAY, type Duration, MINUTE, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type Logger, makeSafeLogger } from "../base/logger.js";
import { checkWholeNumber } from "../base/option-check.js";
import {
  type Changes,
  type OptionsOf,
  type Resolved,
  callable,
  defineOptions,
  duration,
  flag,
  given,
  oneOf,
  readBy,
  required,
  wholeNumber,
} from "../base/options.js";
import { createRememberingClock } from "./clock-watch.js";
import type { Random } from "../base/random.js";
import type { Client } from "../client/call-types.js";
import { createLazyClient } from "../client/create-lazy-client.js";
import type { ClientOptions } from "../client/options.js";
import { type RetryPolicy, resolveRetry } from "../dispatch/retry-policy.js";
import type { SignatureAssumptions } from "../protocol/signature-assumptions.js";
import { checkSchemas } from "../protocol/check-schemas.js";
import { ENDPOINT_ID } from "../protocol/endpoint-id.js";
import type { SchemaMap } from "../protocol/event.js";
import { LIMITS } from "../protocol/limits.js";
import type { UnverifiedPolicy } from "../protocol/outcome.js";
import { resolveSignatureAssumptions } from "../protocol/resolve-assumptions.js";
import type { CommitTransaction } from "../store/commit-transaction.js";
import { createSqliteStore } from "../store/sqlite/sqlite-store.js";
import type { Store } from "../store/store.js";
import type { Alarm } from "./alarm-table.js";
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

/** When missing events are brought in without being asked. */
export interface RepairInterval {
  /** Id of the endpoint, `whe_` and 24 hex digits. */
  endpointId: string;
  /** Name of the endpoint's secret, where `secrets` has names. @default "" */
  source?: string | undefined;
  /** The time from one round to the next: milliseconds, or a text such as `"1h"`. @default 1 hour */
  every?: Duration | undefined;
}

/** What a process does: it takes deliveries, runs handlers, or both. */
export type ReceiverRole = "accept" | "work" | "both";

/** The options of `createReceiver`; only `secrets` is required. */
export interface ReceiverOptions<Schemas extends SchemaMap = SchemaMap, Tx = CommitTransaction> {
  /**
   * The endpoint's secret, whole with `whsec_`; several (newest first) or a function bridge a rotation, which has no
   * overlap. Secrets of several workspaces have names, `{ acme: "whsec_…" }`: docs/handlers.md#several-workspaces. The
   * function has 30 s at start. Later it is called when a signature matches none, every 5 s at most: a delivery waits
   * 2 s for it and is then answered 503, as when it fails; a late result is used for later deliveries.
   */
  secrets: SecretsOption;
  /**
   * Path of the SQLite file, `:memory:` for tests, or a store for this receiver alone, such as `createPostgresStore`
   * makes.
   * @default "pigeonhole.db"
   */
  store?: string | Store<Tx> | undefined;
  /**
   * Schemas of `event.data` by type, synchronous, of zod 4 or any library of Standard Schema: checked before a handler
   * runs, and they type the handler's event. Not applied to test deliveries. A type that is not of the service needs a
   * handler that names it. @default none
   */
  schemas?: Schemas | undefined;
  /** How the service is called: options of `createClient`, or a client. Needed for contact events and repairs. */
  api?: ClientOptions | Client | undefined;
  /**
   * Compares the endpoint's delivery log with the inbox at regular times, and has the service replay what is missing.
   * Needs `api`, and the key `webhooks:read` and `webhooks:write`. @default only by `receiver.repair`
   */
  repair?: RepairInterval | undefined;
  /** A pino logger, or one like it. @default pino at level info, to standard output */
  logger?: Logger | undefined;
  /** Called for problems that need an operator, each kind at most once a minute. */
  onAlarm?: ((alarm: Alarm) => unknown) | undefined;
  /** How often and when a failing handler runs again. @default 14 runs over about 23 hours */
  retry?: Changes<RetryPolicy> | undefined;
  /** Most handlers running at once. One of several handlers has at most half of this. @default 16 */
  concurrency?: number | undefined;
  /** How long the inbox remembers ids and bodies. @default 90 days for both */
  retention?: Changes<Retention> | undefined;
  /**
   * The part of this process. `accept`: it stores deliveries, and runs handlers and sends contact events only while
   * `receiver.drain` is called. `work`: it runs handlers and sends contact events; deliveries are answered 503.
   * Register the same handlers in all processes: the one that accepts an event decides which get it. @default "both"
   */
  role?: ReceiverRole | undefined;
  /**
   * The answer when a signature does not fit or cannot be read: `retry` 503, so that nothing is lost; `reject` 401.
   * @default "retry"
   */
  unverified?: UnverifiedPolicy | undefined;
  /** Greatest accepted age of a signature both ways, in seconds. @default 300 */
  toleranceSeconds?: number | undefined;
  /**
   * Largest body in bytes; larger ones are answered 413, which is final. All bodies being received may have 160 MiB
   * together; above that they are answered 503. @default 5 MiB
   */
  maxBodyBytes?: number | undefined;
  /** Longest time a body may take to arrive, in milliseconds; the service gives up after 5 s. @default 5,000 */
  bodyTimeoutMs?: number | undefined;
  /**
   * Deliveries that were read and wait for the disk or the start; at this number further ones are answered 503.
   * @default 1,000
   */
  highWaterMark?: number | undefined;
  /** Raises the alarm `silence` when nothing was accepted for this long, in milliseconds. @default never */
  silenceAfterMs?: number | undefined;
  /**
   * Raises the alarm `backlog` when work has been due for longer, and `contact_events_stuck` when a contact event has
   * waited for longer, in milliseconds. @default 15 minutes
   */
  backlogAfterMs?: number | undefined;
  /** Names this receiver in idempotency keys; two receivers on one API key need two. @default "default" */
  name?: string | undefined;
  /**
   * Adds messages of errors of handlers, and of `allow` of the dashboard, to the log; they may quote event data or name
   * a person. The inbox has those of handlers in any case, and so has the log those of this package's own errors.
   * @default true where NODE_ENV is development or test, else false
   */
  logErrorMessages?: boolean | undefined;
  /** Spans and metrics where `@opentelemetry/api` is installed. @default true */
  telemetry?: boolean | undefined;
  /** Details of the signature that the service does not document. @default SIGNATURE_ASSUMPTIONS */
  signature?: Changes<SignatureAssumptions> | undefined;
  /** All times and waits, for tests. @default the machine's clock */
  clock?: Clock | undefined;
  /** Numbers from 0 up to 1 for the jitter of waits, for tests. @default Math.random */
  random?: Random | undefined;
}

const MIB = 1024 * 1024;

/** Read for each receiver. An environment without a name counts as production. */
function isDevelopment(): boolean {
  const environment = process.env["NODE_ENV"];
  return environment === "development" || environment === "test";
}

/** The defaults and checks of {@link ReceiverOptions}. */
export const RECEIVER_OPTIONS = defineOptions("createReceiver", {
  // Checked by their source, since they may come from a function.
  secrets: required<SecretsOption>(),
  store: readBy(openStore, { default: "pigeonhole.db" }),
  schemas: readBy(checkSchemas, { default: {} }),
  api: given<ClientOptions | Client>(),
  repair: readBy(
    (option, given?: RepairInterval) =>
      given && REPAIR_INTERVAL.resolve(given, { place: option, prefix: `${option}.` }),
  ),
  logger: readBy((_, logger?: Logger) => makeSafeLogger(logger ?? pino({ name: "pigeonhole" }))),
  onAlarm: callable<(alarm: Alarm) => unknown>(),
  retry: readBy((option, retry?: Changes<RetryPolicy>) => resolveRetry(option, retry)),
  concurrency: wholeNumber({ default: 16, min: 1 }),
  retention: readBy(resolveRetention),
  role: oneOf(["accept", "work", "both"], { default: "both" }),
  unverified: oneOf(["retry", "reject"], { default: "retry" }),
  toleranceSeconds: wholeNumber({ default: LIMITS.toleranceSeconds, min: 1, max: (7 * DAY) / SECOND }),
  maxBodyBytes: wholeNumber({ default: 5 * MIB, min: 1 }),
  bodyTimeoutMs: wholeNumber({ default: 5 * SECOND, min: 1 }),
  highWaterMark: wholeNumber({ default: 1_000, min: 1 }),
  silenceAfterMs: wholeNumber({ min: 1 }),
  backlogAfterMs: wholeNumber({ default: 15 * MINUTE, min: 1 }),
  name: readBy(checkText, { default: "default" }),
  logErrorMessages: readBy((option, given?: boolean) => flag({ default: isDevelopment() }).read(option, given)),
  telemetry: flag({ default: true }),
  signature: readBy((option, changes?: Changes<SignatureAssumptions>) => resolveSignatureAssumptions(changes, option)),
  clock: readBy((_, clock: Clock) => createRememberingClock(clock), { default: systemClock }),
  random: given<Random>({ default: Math.random }),
} satisfies OptionsOf<ReceiverOptions<SchemaMap, unknown>>);

/** The defaults and checks of {@link RepairInterval}. */
export const REPAIR_INTERVAL = defineOptions("repair", {
  endpointId: readBy(checkEndpointId),
  source: given<string>({ default: "" }),
  every: duration({ default: "1h", min: MINUTE, max: 7 * DAY }),
} satisfies OptionsOf<RepairInterval>);

/** The defaults and checks of {@link Retention}. */
export const RETENTION_OPTIONS = defineOptions("retention", {
  // Attempts can spread over 55 h; a week leaves room for a replay by hand.
  idsMs: wholeNumber({ default: 90 * DAY, min: 7 * DAY }),
  bodiesMs: wholeNumber({ min: 0 }),
} satisfies OptionsOf<Retention>);

/** The options, checked and filled in. The secrets are left to their source. */
export type ResolvedOptions = Omit<Resolved<typeof RECEIVER_OPTIONS>, "secrets" | "api"> & { api: Client | undefined };

/** Fills in defaults; throws `invalid_option` naming the option. */
export function resolveOptions(options: ReceiverOptions<SchemaMap, unknown>): ResolvedOptions {
  const { secrets: _, ...resolved } = RECEIVER_OPTIONS.resolve(options);
  if (resolved.repair === undefined || options.api !== undefined) return { ...resolved, api: resolveApi(options) };
  throw new PigeonholeError(
    "invalid_option",
    "repair calls the service: give the option api, with a key and the base URL.",
  );
}

function resolveApi({ api, clock, random, logger }: ReceiverOptions<SchemaMap, unknown>): Client | undefined {
  if (api === undefined || "contactEvents" in api) return api;
  return createLazyClient({ ...(clock && { clock }), ...(random && { random }), ...(logger && { logger }), ...api });
}

function openStore(option: string, store: string | Store<unknown>): Store<unknown> {
  if (typeof store !== "string") return store;
  if (store !== "") return createSqliteStore({ file: store });
  throw new PigeonholeError("invalid_option", `${option} must be the path of a file, ":memory:", or a Store.`);
}

export function checkText(option: string, text: string | undefined): string {
  if (typeof text === "string" && text !== "") return text;
  throw new PigeonholeError("invalid_option", `${option} must be a string that is not empty.`);
}

function checkEndpointId(option: string, id: string | undefined): string {
  if (typeof id === "string" && ENDPOINT_ID.test(id)) return id;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be the id of an endpoint: whe_ and 24 hex digits, without spaces or quotes.`,
  );
}

function resolveRetention(option: string, retention: Changes<Retention> = {}): Retention {
  const { idsMs, bodiesMs = idsMs } = RETENTION_OPTIONS.resolve(retention, { prefix: `${option}.` });
  checkWholeNumber(`${option}.bodiesMs`, bodiesMs, { min: 0, max: idsMs });
  return { idsMs, bodiesMs };
}
