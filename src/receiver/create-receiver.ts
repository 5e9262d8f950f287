import { MINUTE, SECOND } from "../base/duration.js";
import { inTime } from "../base/in-time.js";
import { type OptionNames, checkOptionNames, checkWholeNumber } from "../base/option-check.js";
import { Dispatcher } from "../dispatch/dispatcher.js";
import { errorFields } from "../base/error-fields.js";
import type { Handler } from "../dispatch/handler.js";
import { HandlerRegistry } from "../dispatch/registry.js";
import { Runner } from "../dispatch/runner.js";
import { BodyBudget } from "../http/body-budget.js";
import { createFetch } from "../http/fetch-mount.js";
import type { Intake } from "../http/intake.js";
import { createListener, createMiddleware } from "../http/node-mount.js";
import type { SchemaMap } from "../protocol/event.js";
import { LIMITS } from "../protocol/limits.js";
import { type Outcome, answerFor } from "../protocol/outcome.js";
import type { RawRequest } from "../protocol/raw-request.js";
import { Alarms, SilenceWatch } from "./alarms.js";
import { AnswerTally } from "./answer-tally.js";
import { ClockWatch } from "./clock-watch.js";
import { createContactEvents } from "./contact-events.js";
import { OutboxSender } from "./deliver.js";
import { FinalAnswerLog } from "./final-answer-log.js";
import { HeldStore } from "./held-store.js";
import { createInbox } from "./inbox.js";
import { Lifecycle } from "./lifecycle.js";
import { LimitedLog } from "./limited-log.js";
import { type ReceiverOptions, resolveOptions } from "./options.js";
import { Pruner } from "./pruner.js";
import { type ReceiveDeps, receive } from "./receive.js";
import type { Receiver } from "./receiver.js";
import { SecretSource } from "./secret-source.js";
import { SignatureWatch } from "./signature-watch.js";
import { StoreCounter } from "./store-figures.js";
import { type Telemetry, loadTelemetry } from "./telemetry.js";

const DEFAULT_STOP_MS = 10 * SECOND;
const STOP_NAMES: OptionNames<{ timeoutMs?: number }> = { timeoutMs: true };

/** Bodies in memory at once: 25,000 of 10 kB, and of the largest allowed some fifty. */
const BODIES_BYTES = 256 * 1024 * 1024;

/** How long a delivery waits for a start that is under way; the service gives up after 5 s. */
const START_WAIT_MS = 3 * SECOND;

/**
 * Makes a receiver for one endpoint. Register handlers, mount it, then `await receiver.start()`. Throws `invalid_option` or
 * `invalid_secret` for options that cannot be right.
 */
export function createReceiver<const Schemas extends SchemaMap = Record<never, never>>(
  given: ReceiverOptions<Schemas>,
): Receiver<Schemas> {
  const options = resolveOptions(given);
  const { store, schemas, clock, logger } = options;
  const alarms = new Alarms({ logger, clock, hook: options.onAlarm });
  const secrets = new SecretSource(given.secrets, { clock, logger, alarms });
  const limitedLog = new LimitedLog({ clock, logger });
  const { signatureHeader } = options.signature;
  const finalAnswers = new FinalAnswerLog({ alarms, log: limitedLog, signatureHeader });
  const tally = new AnswerTally(alarms);
  const silence =
    options.silenceAfterMs === undefined ? undefined : new SilenceWatch(clock, options.silenceAfterMs, alarms);
  const registry = new HandlerRegistry(schemas, options);
  const clockWatch = new ClockWatch({ store, clock, logger, alarms });
  const pruner = new Pruner({ store, clock, clockWatch, logger, retention: options.retention });
  let telemetry: Telemetry | undefined;
  const sender =
    options.api === undefined ? undefined : new OutboxSender({ ...options, api: options.api, alarms, clockWatch });
  const { source, api, random, logErrorMessages } = options;
  const runner = new Runner({ context: { store, source, api, logger, clock }, random, logErrorMessages });
  const dispatcher = new Dispatcher({ store, registry, runner, sender, clock, logger });
  const receiveDeps: ReceiveDeps = {
    secrets,
    rules: { toleranceSeconds: options.toleranceSeconds, assumptions: options.signature },
    schemas,
    registry,
    dispatcher,
    store,
    signatures: new SignatureWatch({ alarms, clockWatch, assumptions: options.signature }),
    clockWatch,
    alarms,
    clock,
    logger,
  };

  const heldStore = new HeldStore(store);
  const counter = new StoreCounter({ store, dispatcher, clock });
  const life = new Lifecycle({
    start: [
      () => registry.freeze(),
      () => Promise.race([secrets.load(), life.stopAsked]),
      async () => {
        if (options.telemetry) telemetry = await loadTelemetry(async () => (await store.counts(clock.now())).pending);
      },
      () => heldStore.open({ logger, onAlarm: (alarm) => alarms.raise(alarm) }),
      () => clockWatch.start(),
      () => dispatcher.start(telemetry),
      () => pruner.start(),
      () => silence?.start(),
      warnOfOrphans,
    ],
    giveUp: () => heldStore.close(),
    stop: stopAll,
  });
  let waiting = 0;
  let noneWaits: (() => void) | undefined;
  let lastAcceptedAt: number | undefined;

  /** What cannot be taken at all is refused before its body is read. */
  function refuseEarly(header: (name: string) => string | undefined): Outcome | undefined {
    const { state } = life;
    if (state === "new") {
      logger.error({ advice: "Call await receiver.start() before the server listens." }, "not_started");
      return { kind: "not_started" };
    }
    if (state === "stopping" || state === "stopped") return { kind: "stopping" };
    if (waiting >= options.highWaterMark) return { kind: "overloaded" };
    return header(options.signature.signatureHeader) === undefined ? { kind: "unsigned" } : undefined;
  }

  async function receiveOne(request: RawRequest): Promise<Outcome> {
    waiting += 1;
    try {
      if (!life.hasStarted) {
        const refused = await refuseUntilStarted();
        if (refused !== undefined) return refused;
      }
      if (telemetry === undefined) return await receive(request, receiveDeps);
      return await telemetry.observeDelivery(() => receive(request, receiveDeps));
    } catch (error) {
      intake.reportFault(error);
      return { kind: "internal_error" };
    } finally {
      waiting -= 1;
      if (waiting === 0) noneWaits?.();
    }
  }

  /** A delivery waits for a start that is under way, but not past the time that the service gives it. */
  async function refuseUntilStarted(): Promise<Outcome | undefined> {
    await inTime(life.startEnded(), clock, START_WAIT_MS);
    switch (life.state) {
      case "running":
        return undefined;
      case "new":
      case "starting":
        return { kind: "not_started" };
      case "stopping":
      case "stopped":
        return { kind: "stopping" };
    }
  }

  const intake: Intake = {
    maxBodyBytes: options.maxBodyBytes,
    bodies: new BodyBudget(Math.max(BODIES_BYTES, options.maxBodyBytes)),
    bodyTimeoutMs: options.bodyTimeoutMs,
    clock,
    refuseEarly,
    receive: receiveOne,
    conclude(outcome, header) {
      tally.add(outcome);
      if (outcome.kind === "accepted" || outcome.kind === "parked") {
        lastAcceptedAt = clock.now();
        silence?.heard();
      }
      const answer = answerFor(outcome, options.unverified);
      finalAnswers.saw(outcome, answer.status, header);
      return answer;
    },
    reportFault: (error) => logger.error(errorFields(error, false), "receive_failed"),
  };

  /** A handler that was renamed or removed leaves its work waiting; somebody should know. The handlers run by now, so this must not fail. */
  async function warnOfOrphans(): Promise<void> {
    try {
      const { pendingByHandler } = await store.counts(clock.now());
      const names = new Set(registry.all.map(({ name }) => name));
      for (const [handler, pending] of Object.entries(pendingByHandler)) {
        if (!names.has(handler)) logger.warn({ handler, pending }, "work_waits_for_a_handler_that_is_not_registered");
      }
    } catch (error) {
      logger.error(errorFields(error, true), "counts_failed");
    }
  }

  async function stopAll(timeoutMs: number): Promise<void> {
    // A process that has closed its listener must live until all is settled, and the clock's timers do not keep it alive.
    const keepAlive = setInterval(() => undefined, MINUTE);
    pruner.stop();
    silence?.stop();
    limitedLog.stop();
    try {
      await Promise.all([dispatcher.stop(timeoutMs), untilNoneWaits(timeoutMs)]);
      await sender?.stop();
      await clockWatch.stop();
      await counter.count().catch(() => undefined);
    } finally {
      await heldStore.close().finally(() => clearInterval(keepAlive));
    }
  }

  /** What is being stored gets its answer before the store closes. */
  async function untilNoneWaits(timeoutMs: number): Promise<void> {
    if (waiting === 0) return;
    await inTime(new Promise<void>((resolve) => (noneWaits = resolve)), clock, timeoutMs);
  }

  /** Before the start and after the stop the last figures stand; a running receiver whose store fails says so. */
  async function countWhileOpen(): Promise<void> {
    if (life.state === "new" || life.state === "stopped") return;
    try {
      await counter.count();
    } catch (error) {
      if (life.state === "running") throw error;
    }
  }

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
    start: () => life.start(),
    stop(stopOptions = {}) {
      checkOptionNames("stop", stopOptions, STOP_NAMES);
      const { timeoutMs = DEFAULT_STOP_MS } = stopOptions;
      checkWholeNumber("timeoutMs", timeoutMs, { min: 0 });
      return life.stop(timeoutMs);
    },
    get state() {
      return life.state;
    },
    async stats() {
      await countWhileOpen();
      return {
        state: life.state,
        ...counter.figures,
        answers: tally.counts,
        failuresInARow: tally.failuresInARow,
        disablesAt: LIMITS.disableAfterFailures,
        lastAcceptedAt,
        waiting,
      };
    },
    inbox: createInbox({ store, registry, dispatcher, clock }),
    contactEvents: createContactEvents({ store, clock, source: options.source, sender }),
  };
  return receiver;
}
