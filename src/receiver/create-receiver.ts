import { MINUTE, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { checkWholeNumber } from "../base/option-check.js";
import { Dispatcher } from "../dispatch/dispatcher.js";
import { errorFields } from "../base/error-fields.js";
import type { Handler } from "../dispatch/handler.js";
import { HandlerRegistry } from "../dispatch/registry.js";
import { createFetch } from "../http/fetch-mount.js";
import type { Intake } from "../http/intake.js";
import { createListener, createMiddleware } from "../http/node-mount.js";
import { decodeDelivery } from "../protocol/decode-delivery.js";
import type { SchemaMap } from "../protocol/event.js";
import { LIMITS } from "../protocol/limits.js";
import { type Outcome, answerFor } from "../protocol/outcome.js";
import type { RawRequest } from "../protocol/raw-request.js";
import { requestFromInbox } from "../protocol/verify-request.js";
import { Alarms, SilenceWatch } from "./alarms.js";
import { AnswerTally } from "./answer-tally.js";
import { createContactEvents } from "./contact-events.js";
import { OutboxSender } from "./deliver.js";
import { createInbox } from "./inbox.js";
import { type ReceiverOptions, resolveOptions } from "./options.js";
import { Pruner } from "./pruner.js";
import { type ReceiveDeps, receive } from "./receive.js";
import type { Receiver, ReceiverState } from "./receiver.js";
import { SecretSource } from "./secret-source.js";
import { SignatureWatch } from "./signature-watch.js";
import { type Telemetry, loadTelemetry } from "./telemetry.js";

const DEFAULT_STOP_MS = 10 * SECOND;

/**
 * Makes a receiver for one endpoint. Register handlers, mount it, then `await receiver.start()`. Throws `invalid_option` or
 * `invalid_secret` for options that cannot be right.
 */
export function createReceiver<const Schemas extends SchemaMap = Record<never, never>>(
  given: ReceiverOptions<Schemas>,
): Receiver<Schemas> {
  const options = resolveOptions(given);
  const { store, schemas, clock, logger } = options;
  const secrets = new SecretSource(given.secrets, { clock, logger });
  const alarms = new Alarms({ logger, clock, hook: options.onAlarm });
  const tally = new AnswerTally(alarms);
  const silence =
    options.silenceAfterMs === undefined ? undefined : new SilenceWatch(clock, options.silenceAfterMs, alarms);
  const registry = new HandlerRegistry(options.retry, Object.keys(schemas));
  const pruner = new Pruner({ store, clock, logger, retention: options.retention });
  let telemetry: Telemetry | undefined;
  const sender = options.api === undefined ? undefined : new OutboxSender({ ...options, api: options.api, alarms });
  const dispatcher = new Dispatcher({
    ...options,
    onOwner: () => sender?.start(),
    onRecorded: () => sender?.poke(),
    registry,
    observer: () => telemetry,
    readBack(body) {
      const delivery = decodeDelivery(requestFromInbox(body), schemas);
      return delivery.kind === "event" ? { kind: "event", event: delivery.event } : delivery;
    },
  });
  const receiveDeps: ReceiveDeps = {
    secrets,
    rules: { toleranceSeconds: options.toleranceSeconds, assumptions: options.signature },
    schemas,
    registry,
    dispatcher,
    store,
    signatures: new SignatureWatch(alarms),
    alarms,
    clock,
    logger,
  };

  let state: ReceiverState = "new";
  let starting: Promise<void> | undefined;
  let waiting = 0;
  let noneWaits: (() => void) | undefined;
  let lastAcceptedAt: number | undefined;

  /** What cannot be taken at all is refused before its body is read. */
  function refuseEarly(header: (name: string) => string | undefined): Outcome | undefined {
    if (state === "new") {
      logger.error({ advice: "Call await receiver.start() before the server listens." }, "not_started");
      return { kind: "not_started" };
    }
    if (state === "stopping" || state === "stopped") return { kind: "stopping" };
    if (waiting >= options.highWaterMark) return { kind: "overloaded" };
    return header(options.signature.signatureHeader) === undefined
      ? { kind: "unsigned", reason: "missing" }
      : undefined;
  }

  async function receiveOne(request: RawRequest): Promise<Outcome> {
    waiting += 1;
    try {
      if (state === "starting") await starting;
      if (telemetry === undefined) return await receive(request, receiveDeps);
      return await telemetry.observeDelivery(() => receive(request, receiveDeps));
    } catch (error) {
      if (state === "new") return { kind: "not_started" };
      intake.reportFault(error);
      return { kind: "internal_error" };
    } finally {
      waiting -= 1;
      if (waiting === 0) noneWaits?.();
    }
  }

  const intake: Intake = {
    maxBodyBytes: options.maxBodyBytes,
    bodyTimeoutMs: options.bodyTimeoutMs,
    clock,
    refuseEarly,
    receive: receiveOne,
    conclude(outcome) {
      tally.add(outcome);
      if (outcome.kind === "accepted" || outcome.kind === "parked") {
        lastAcceptedAt = clock.now();
        silence?.heard();
      }
      return answerFor(outcome, options.unverified);
    },
    reportFault: (error) => logger.error(errorFields(error, false), "receive_failed"),
  };

  async function startAll(): Promise<void> {
    registry.freeze();
    await secrets.load();
    if (options.telemetry) telemetry = await loadTelemetry(async () => (await store.counts(clock.now())).pending);
    await store.open({ logger });
    await dispatcher.start();
    pruner.start();
    silence?.start();
    await warnOfOrphans();
  }

  /** A handler that was renamed or removed leaves its work waiting; somebody should know. */
  async function warnOfOrphans(): Promise<void> {
    const { pendingByHandler } = await store.counts(clock.now());
    const names = new Set(registry.all.map(({ name }) => name));
    for (const [handler, pending] of Object.entries(pendingByHandler)) {
      if (!names.has(handler)) logger.warn({ handler, pending }, "work_waits_for_a_handler_that_is_not_registered");
    }
  }

  async function stopAll(timeoutMs: number): Promise<void> {
    // A process that has closed its listener must live until all is settled, and the clock's timers do not keep it alive.
    const keepAlive = setInterval(() => undefined, MINUTE);
    await starting?.catch(() => undefined);
    pruner.stop();
    silence?.stop();
    try {
      await Promise.all([dispatcher.stop(timeoutMs), untilNoneWaits(timeoutMs)]);
      await sender?.stop();
    } finally {
      await store.close();
      state = "stopped";
      clearInterval(keepAlive);
    }
  }

  /** What is being stored gets its answer before the store closes. */
  async function untilNoneWaits(timeoutMs: number): Promise<void> {
    if (waiting === 0) return;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(resolve, timeoutMs);
      noneWaits = () => {
        timer.cancel();
        resolve();
      };
    });
  }
  let stopping: Promise<void> | undefined;

  const receiver: Receiver<Schemas> = {
    on(pattern, handler, handlerOptions = {}) {
      const patterns: readonly string[] = Array.isArray(pattern) ? pattern : [pattern];
      registry.on(patterns, handler as Handler, handlerOptions as object);
      return receiver;
    },
    onUnhandled(handler) {
      registry.onUnhandled(handler);
      return receiver;
    },
    middleware: () => createMiddleware(intake),
    listener: (listenerOptions) => createListener(intake, listenerOptions),
    fetch: createFetch(intake),
    start() {
      if (state === "stopping" || state === "stopped") {
        return Promise.reject(new PigeonholeError("stopped", "The receiver was stopped; create a new one."));
      }
      if (starting === undefined) {
        state = "starting";
        starting = startAll().then(
          () => {
            // Stopped meanwhile otherwise.
            if (state === "starting") state = "running";
          },
          (error: unknown) => {
            if (state === "starting") state = "new";
            starting = undefined;
            throw error;
          },
        );
      }
      return starting;
    },
    stop({ timeoutMs = DEFAULT_STOP_MS } = {}) {
      checkWholeNumber("timeoutMs", timeoutMs, { min: 0 });
      state = state === "stopped" ? state : "stopping";
      stopping ??= stopAll(timeoutMs);
      return stopping;
    },
    async stats() {
      const now = clock.now();
      const [{ oldestPendingReceivedAt, oldestDueAt, ...counts }, { oldestRecordedAt, ...outbox }] = await Promise.all([
        store.counts(now),
        store.countOutbox(),
      ]);
      return {
        state,
        ...counts,
        oldestPendingAgeMs: ageOf(oldestPendingReceivedAt, now),
        lagMs: ageOf(oldestDueAt, now),
        outbox: { ...outbox, oldestAgeMs: ageOf(oldestRecordedAt, now) },
        answers: tally.counts,
        failuresInARow: tally.failuresInARow,
        disablesAt: LIMITS.disableAfterFailures,
        lastAcceptedAt,
        waiting,
      };
    },
    inbox: createInbox({ store, registry, dispatcher, schemas, clock }),
    contactEvents: createContactEvents({ store, clock, source: options.source, sender }),
  };
  return receiver;
}

function ageOf(time: number | undefined, now: number): number {
  return time === undefined ? 0 : Math.max(0, now - time);
}
