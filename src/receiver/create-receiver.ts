import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, wholeNumber } from "../base/options.js";
import { clientOfRuns } from "../client/client-of-runs.js";
import { Dispatcher } from "../dispatch/dispatcher.js";
import type { RegisteredHandler } from "../dispatch/handler.js";
import { HandlerRegistry } from "../dispatch/registry.js";
import { RunRecord } from "../dispatch/handler-runs.js";
import { Runner } from "../dispatch/runner.js";
import { createFetch } from "../http/fetch-mount.js";
import { createListener, createMiddleware } from "../http/node-mount.js";
import type { SchemaMap } from "../protocol/event.js";
import type { CommitTransaction } from "../store/commit-transaction.js";
import { Admission, BODIES_BYTES } from "./admission.js";
import { Alarms } from "./alarms.js";
import { createContactEvents } from "../outbox/contact-events.js";
import { OutboxSender } from "../outbox/outbox-sender.js";
import { ClockWatch } from "./clock-watch.js";
import { AnswerWatch, SignatureWatch } from "./delivery-watch.js";
import { type DeliveryPath, createDeliveryHandler } from "./handle-delivery.js";
import { FiguresWriter } from "./figures-writer.js";
import { Drainer } from "./drainer.js";
import { createInbox } from "./inbox.js";
import { Lifecycle } from "./lifecycle.js";
import { type ReceiverOptions, type ResolvedOptions, resolveOptions } from "./options.js";
import { Pruner } from "./pruner.js";
import type { DrainOptions, Receiver, StopOptions } from "./receiver.js";
import { type ReceiverParts, rememberParts } from "./receiver-parts.js";
import { SecretSource, type SecretsOption } from "./secret-source.js";
import { repairEndpoint } from "./repair-endpoint.js";
import { Repairer } from "./repairer.js";
import { readStats } from "./stats.js";
import { StoreCounter } from "./store-counter.js";
import { WorkWatch } from "./work-watch.js";

/** The default and check of {@link StopOptions}. */
export const STOP_OPTIONS = defineOptions("stop", {
  timeoutMs: wholeNumber({ default: 10 * SECOND, min: 0 }),
} satisfies OptionsOf<StopOptions>);

/** The default and check of {@link DrainOptions}. */
export const DRAIN_OPTIONS = defineOptions("drain", {
  timeoutMs: wholeNumber({ default: 10 * SECOND, min: 0 }),
} satisfies OptionsOf<DrainOptions>);

/**
 * Makes a receiver for one endpoint. Register handlers, mount it, then `await receiver.start()`. Throws
 * `invalid_option` or `invalid_secret` for options that cannot be right.
 */
export function createReceiver<const Schemas extends SchemaMap = Record<never, never>, Tx = CommitTransaction>(
  given: ReceiverOptions<Schemas, Tx>,
): Receiver<Schemas, Tx> {
  const options = resolveOptions(given);
  const parts = createParts(options, given.secrets);
  const { store, clock, name } = options;
  const { path, sender } = parts;
  const { operator } = parts.inStore;
  const { admission, registry, dispatcher } = path;
  const life = new Lifecycle(parts);
  const handle = createDeliveryHandler(path);
  const middleware = createMiddleware(handle, clock);

  const receiver: Receiver<Schemas, Tx> = {
    on(pattern, handler, handlerOptions = {}) {
      registry.on([pattern].flat(), handler as RegisteredHandler["run"], handlerOptions as object);
      return receiver;
    },
    onBatch(pattern, handler, batchOptions = {}) {
      registry.onBatch([pattern].flat(), handler as RegisteredHandler["run"], batchOptions);
      return receiver;
    },
    onUnhandled(handler) {
      registry.onUnhandled(handler as RegisteredHandler["run"]);
      return receiver;
    },
    middleware: () => middleware,
    listener: (listenerOptions) => createListener(middleware, listenerOptions),
    fetch: createFetch(handle),
    start: () => life.start(),
    stop(stopOptions = {}) {
      return life.stop(STOP_OPTIONS.resolve(stopOptions).timeoutMs);
    },
    drain(drainOptions = {}) {
      return parts.drainer.drain(DRAIN_OPTIONS.resolve(drainOptions).timeoutMs, path.telemetry);
    },
    get state() {
      return admission.state;
    },
    stats: () => readStats(parts),
    inbox: createInbox({ store, operator, registry, dispatcher, clock }),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    async repair(repairOptions) {
      if (options.api !== undefined) {
        path.verification.secrets.checkSource("repair.source", repairOptions.source ?? "");
        return repairEndpoint({ client: options.api, inbox: operator, clock }, repairOptions);
      }
      throw new PigeonholeError(
        "api_not_configured",
        "receiver.repair reads the delivery log with the option api of createReceiver; give it a key and the base URL.",
      );
    },
    contactEvents: createContactEvents({ store, operator, clock, name, sender }),
  };
  rememberParts(receiver, parts);
  return receiver;
}

/** Everything that a receiver is made of, each part with what it needs. */
function createParts(options: ResolvedOptions, secretsOption: SecretsOption): ReceiverParts {
  const { store, schemas, clock, logger, name, api, random, logErrorMessages } = options;
  const alarms = new Alarms({ logger, clock, hook: options.onAlarm });
  const secrets = new SecretSource(secretsOption, { clock, logger, alarms });
  const registry = new HandlerRegistry(schemas, options);
  const record = new RunRecord();
  const context = { store, name, api: api && clientOfRuns(api), logger, clock };
  const runner = new Runner({ context, random, logErrorMessages, record });
  const clockWatch = new ClockWatch({ store, clock, logger, alarms });
  const sender = api === undefined ? undefined : new OutboxSender({ ...options, api, alarms, clockWatch });
  const { role } = options;
  const operator = store.openOperator(() => clock.now());
  const dispatcherDeps = { store, registry, runner, sender, clock, logger };
  const dispatcher = new Dispatcher(dispatcherDeps, operator);
  const admission = new Admission({ ...options, accepts: role !== "work", bodiesBytes: BODIES_BYTES }, clock);
  const pruner = new Pruner({ store, clock, clockWatch, logger, retention: options.retention });
  const { repair } = options;
  const counter = new StoreCounter({ store, operator, dispatcher, clock, endpointId: repair?.endpointId });
  const { toleranceSeconds, unverified, signature: assumptions } = options;
  const answers = new AnswerWatch({ logger, assumptions, clock, alarms });
  const path: DeliveryPath = {
    admission,
    verification: { secrets, rules: { toleranceSeconds, assumptions, unverified }, clock },
    registry,
    dispatcher,
    report: {
      signatures: new SignatureWatch({ assumptions, secrets, clock, alarms }),
      answers,
      clockWatch,
      alarms,
      logger,
    },
    telemetry: undefined,
  };
  if (repair !== undefined) secrets.checkSource("repair.source", repair.source);
  const repairer = api && repair && new Repairer({ client: api, repair, secrets, operator, clock, logger });
  const workWatch = new WorkWatch({ options, path, counter, record, operator });
  const drainer = new Drainer({
    admission,
    dispatcher: role === "accept" ? () => new Dispatcher(dispatcherDeps, operator) : dispatcher,
    sender,
    pruner,
    workWatch,
    clock,
  });
  return {
    options,
    path,
    inStore: {
      operator,
      counter,
      pruner,
      figures: new FiguresWriter({ options, counter, answers, record, admission, dispatcher }),
    },
    watches: { work: workWatch, repairer },
    drainer,
    sender,
  };
}
