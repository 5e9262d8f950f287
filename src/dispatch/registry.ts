import type { Clock } from "../base/clock.js";
import { type ErrorCode, PigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import { nearestWord } from "../base/nearest-word.js";
import { type Delivery, decodeDelivery } from "../protocol/decode-delivery.js";
import type { SchemaMap } from "../protocol/event.js";
import { matchesPattern } from "../protocol/event-pattern.js";
import { EVENT_TYPES } from "../protocol/event-types.js";
import type { ParkReason } from "../protocol/outcome.js";
import { UNDECODABLE_TEXTS } from "../protocol/undecodable-texts.js";
import { requestFromInbox } from "../protocol/verify-request.js";
import { MAX_HANDLER_NAME_LENGTH } from "../store/paused-handlers.js";
import type { Store } from "../store/store.js";
import { BATCH_OPTIONS, type BatchOptions } from "./batch-handler.js";
import { type Batching, HANDLER_OPTIONS, type HandlerSettings, type RegisteredHandler } from "./handler.js";
import { type RetryPolicy, resolveRetry } from "./retry-policy.js";

/** `onUnhandled`'s handler in the inbox. */
const UNHANDLED_NAME = "unhandled";

/** Which handlers get an event, and whether it is also parked. */
export interface Route {
  handlers: readonly RegisteredHandler[];
  parked: { reason: ParkReason; detail: string } | undefined;
}

const UNKNOWN_TYPE: Route["parked"] = {
  reason: "unknown_type",
  detail: UNDECODABLE_TEXTS.unknownType,
};

/** Defaults of the handlers' options. */
export interface HandlerDefaults {
  /** Most handlers running at once, all together. */
  concurrency: number;
  retry: RetryPolicy;
}

/** What runs on a store needs. */
export interface StoreDeps {
  store: Store<unknown>;
  registry: HandlerRegistry;
  clock: Clock;
  logger: Logger;
}

/** The handlers of a receiver and its schemas. Fixed at start. */
export class HandlerRegistry {
  readonly schemas: SchemaMap;
  readonly #handlers = new Map<string, RegisteredHandler>();
  readonly #defaults: HandlerDefaults;
  readonly #extraTypes: ReadonlySet<string>;
  #unhandled: RegisteredHandler | undefined;
  #frozen = false;

  /** `schemas`: of `event.data` by type, which makes those types known. */
  constructor(schemas: SchemaMap, defaults: HandlerDefaults) {
    this.schemas = schemas;
    this.#defaults = defaults;
    this.#extraTypes = new Set(Object.keys(schemas));
  }

  /** Throws `already_started`, `duplicate_handler`, or `invalid_argument` for an unknown event type. */
  on(patterns: readonly string[], run: RegisteredHandler["run"], options: HandlerSettings): void {
    this.#checkPatterns(patterns);
    this.#add(options.name ?? patterns.join("|"), patterns, run, options);
  }

  /** The same for a handler of batches. Also throws `invalid_option` for a `max` or `wait` out of range. */
  onBatch(patterns: readonly string[], run: RegisteredHandler["run"], options: BatchOptions): void {
    this.#checkPatterns(patterns);
    const { name = patterns.join("|"), max: _, wait: __, ...others } = options;
    const place = `handler "${name}"`;
    const { max, wait, concurrency } = BATCH_OPTIONS.resolve(options, { place, prefix: `${place}: ` });
    this.#add(name, patterns, run, { ...others, concurrency }, { max, waitMs: wait });
  }

  /** Called for events that no handler of `on` matches. */
  onUnhandled(run: RegisteredHandler["run"]): void {
    this.#unhandled = this.#add(UNHANDLED_NAME, [], run, {});
  }

  /** Throws `invalid_option` for a schema of a type that neither the service nor a handler names: it checks nothing. */
  freeze(): void {
    const named = new Set<string>([...EVENT_TYPES, ...this.all.flatMap(({ patterns }) => patterns)]);
    for (const type of this.#extraTypes) {
      if (named.has(type)) continue;
      const near = nearestWord(type, [...named]);
      const advice = near === undefined ? "Register a handler of it, or remove it." : `Did you mean "${near}"?`;
      const text = `options.schemas has "${type}", which is not an event type of the service and which no handler names.`;
      throw new PigeonholeError("invalid_option", `${text} ${advice}`);
    }
    this.#frozen = true;
  }

  /** Most handlers running at once, all together. */
  get concurrency(): number {
    return this.#defaults.concurrency;
  }

  get all(): RegisteredHandler[] {
    return [...this.#handlers.values()];
  }

  /** Reads stored bytes again, by the current schemas. */
  read(body: Uint8Array): Delivery {
    return decodeDelivery(requestFromInbox(body), this.schemas);
  }

  /**
   * Finds the handlers of a delivery. What none of `on` matches goes to `onUnhandled`; if its type is new to this
   * version it is parked as well, so that a handler registered later can still get it. Test events that no handler
   * asked for are stored without work.
   */
  route(delivery: Delivery): Route {
    if (delivery.kind === "undecodable") {
      const { reason, detail } = delivery;
      return { handlers: [], parked: { reason, detail } };
    }
    const { type, test, known } = delivery.event;
    const handlers = this.#match(type, test);
    if (handlers.length > 0 || test) return { handlers, parked: undefined };
    const unhandled = this.#unhandled === undefined ? [] : [this.#unhandled];
    return { handlers: unhandled, parked: known ? undefined : UNKNOWN_TYPE };
  }

  #match(type: string, test: boolean): RegisteredHandler[] {
    const matching: RegisteredHandler[] = [];
    for (const handler of this.#handlers.values()) {
      if (test && !handler.testEvents) continue;
      if (handler.patterns.some((pattern) => matchesPattern(pattern, type))) matching.push(handler);
    }
    return matching;
  }

  #add(
    name: string,
    patterns: readonly string[],
    run: RegisteredHandler["run"],
    options: HandlerSettings,
    batch?: Batching,
  ): RegisteredHandler {
    // Before the checks below, which would report a misspelt option as another error.
    const place = `handler "${name}"`;
    HANDLER_OPTIONS.checkNames(options, place);
    refuseUnless(
      !this.#frozen,
      "already_started",
      `Handler "${name}" was registered after start(); register it before.`,
    );
    refuseUnless(
      typeof run === "function",
      "invalid_argument",
      `Handler "${name}" must be a function, got ${typeof run}.`,
    );
    refuseUnless(
      typeof name === "string" && name !== "" && name.length <= MAX_HANDLER_NAME_LENGTH,
      "invalid_option",
      `A handler's name must have 1 to ${MAX_HANDLER_NAME_LENGTH} characters; without a name it is its types. Give it one: on(types, handler, { name: "…" }).`,
    );
    refuseUnless(
      !this.#handlers.has(name),
      "duplicate_handler",
      `Two handlers are named "${name}". Give one of them another name: on(type, handler, { name: "…" }).`,
    );
    const all = this.#defaults;
    const checked = HANDLER_OPTIONS.resolve(options, { place, prefix: `${place}: ` });
    refuseUnless(
      checked.only === undefined || checked.key !== undefined,
      "invalid_option",
      `${place}: only: "newest" needs a key, as without one no event is newer than another. Add one: { key: (event) => …, only: "newest" }.`,
    );
    const concurrency = Math.min(checked.concurrency ?? all.concurrency, all.concurrency);
    const retry = resolveRetry(`${place}: retry`, checked.retry, all.retry);
    const handler: RegisteredHandler = { ...checked, name, patterns, run, batch, concurrency, retry };
    this.#handlers.set(name, handler);
    return handler;
  }

  /** A misspelt type would never match, which would be noticed only when events are missed. */
  #checkPatterns(patterns: readonly unknown[]): void {
    refuseUnless(patterns.length > 0, "invalid_argument", "on() needs at least one event type.");
    const types = [...EVENT_TYPES, ...this.#extraTypes];
    for (const pattern of patterns) {
      refuseUnless(
        typeof pattern === "string",
        "invalid_argument",
        `on() needs an event type or a list of them, such as "email.received", got ${pattern === null ? "null" : typeof pattern}.`,
      );
      refuseUnless(
        types.some((type) => matchesPattern(pattern, type)),
        "invalid_argument",
        `"${pattern}" is not an event type of the service. Known are ${types.join(", ")}, groups such as "email.*", and "*". A type that is newer than this package becomes known by an entry in options.schemas.`,
      );
    }
  }
}

function refuseUnless(isGood: boolean, code: ErrorCode, text: string): asserts isGood {
  if (!isGood) throw new PigeonholeError(code, text);
}
