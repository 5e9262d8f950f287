import { HOUR, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, flag, given } from "../base/options.js";
import { seededRandom } from "../base/random.js";
import { allowLocalUrls } from "../contract/bind-operation.js";
import type { EventType } from "../protocol/event-types.js";
import { MAX_RETRY_SPAN_MS } from "../protocol/retry-schedule.js";
import { RoleBook } from "./access/role-book.js";
import { createSandboxCallers } from "./access/sandbox-callers.js";
import { ApiFaultList } from "./calls/api-faults.js";
import { createApiFetch } from "./calls/api-fetch.js";
import { ApiKeyRegistry } from "./access/api-key-registry.js";
import { type SandboxApiOptions, createApi } from "./calls/create-api.js";
import { ContactEventWaits } from "./contact-events/contact-event-waits.js";
import { createContactEventStore } from "./contact-events/contact-event-store.js";
import { createDeliverOnce } from "./delivery/deliver-once.js";
import { AttemptLog } from "./delivery/attempt-log.js";
import { AttemptQueue } from "./delivery/attempt-queue.js";
import { AttemptSender } from "./delivery/attempt-sender.js";
import { lookUpHost } from "./delivery/resolve-target.js";
import { DeliveryEngine } from "./delivery/delivery-engine.js";
import { DeliveryFaultList } from "./delivery/delivery-faults.js";
import { type SandboxEvent, eventBody } from "./delivery/scheduled-delivery.js";
import { sendInProcess } from "./delivery/send-in-process.js";
import { sendOverHttp } from "./delivery/send-over-http.js";
import { EndpointRegistry } from "./endpoints/endpoint-registry.js";
import { createSandboxEndpoints } from "./control/sandbox-endpoints.js";
import { loggedUrl, type SandboxLogEntry } from "./log-entry.js";
import { EventMaker } from "./event-maker.js";
import { createMakeId } from "./api/make-id.js";
import { type ResolvedSandboxOptions, type SandboxOptions, resolveSandboxOptions } from "./options.js";
import { PassTime } from "./delivery/pass-time.js";
import { createSandboxTime } from "./clock/sandbox-time.js";
import type { EmitOptions, Emitted, PlannedAttempt, Sandbox, SandboxResetOptions } from "./control/sandbox.js";
import { LISTEN_OPTIONS, SandboxServer } from "./sandbox-server.js";
import { AttemptWaits, checkFilter, checkTimeout, checkWait } from "./delivery/attempt-waits.js";
import { sandboxClosed } from "./delivery/event-waiter.js";
import { AddressBook } from "./resources/address-book.js";
import { RESOURCE_NAMES, createResources, handlersOf, rowsOf } from "./resources/create-resources.js";
import { DomainTable } from "./resources/domain-records.js";
import { MailServers } from "./resources/mail-servers.js";
import { OwnedAddresses } from "./resources/owned-addresses.js";
import { SignUps } from "./resources/sign-ups.js";
import { createWebhooksHandlers } from "./webhooks-handlers.js";

/** This name is never resolved. A client without a socket uses it as base URL. */
const IN_PROCESS_URL = "http://localhost";

/** The names of {@link EmitOptions}; the values are checked where the event is made. */
export const EMIT_OPTIONS = defineOptions("sandbox.emit", {
  address: given(),
  id: given(),
  story: given(),
} satisfies OptionsOf<EmitOptions>);

/** The default and check of {@link SandboxResetOptions}. */
export const RESET_OPTIONS = defineOptions("sandbox.reset", {
  keepEndpoints: flag({ default: false }),
} satisfies OptionsOf<SandboxResetOptions>);

/**
 * An emulator of the service, as its documentation describes it, in this process. It delivers signed events with the
 * documented retries, and serves the API. Throws `invalid_option`.
 *
 * @example
 * const sandbox = createSandbox({ clock: "manual" });
 * const { secret } = sandbox.endpoints.create({ url: "http://127.0.0.1:3000/webhooks/mail" });
 * sandbox.emit("email.bounced");
 * await sandbox.advance("28h"); // every retry, in milliseconds
 */
export function createSandbox(given: SandboxOptions = {}): Sandbox {
  const options = resolveSandboxOptions(given);
  const { seed } = options;
  const time = createSandboxTime(options.clock, { startMs: options.startMs, receiverTime: options.receiverTime });
  const { clock } = time;
  const makeId = createMakeId(seed);
  type Happened = SandboxLogEntry extends infer Entry ? (Entry extends unknown ? Omit<Entry, "atMs"> : never) : never;
  const emit = (happened: Happened): void => options.onLog?.({ atMs: clock.now(), ...happened });

  const log = new AttemptLog(options.maxLogRows);
  const waits = new AttemptWaits(log, time.awaited);
  const eventWaits = new ContactEventWaits();
  const queue = new AttemptQueue({
    atOnce: options.attemptsAtOnce ?? (time.isManual ? 1 : 64),
    patienceMs: time.isManual ? options.patienceMs : undefined,
  });
  const passTime = new PassTime(time, queue, (byMs) => emit({ kind: "clock", byMs }));
  const owned = new OwnedAddresses(options);
  const endpoints = new EndpointRegistry({
    clock,
    makeId,
    rules: { ...options, owned },
    maxEndpoints: options.maxEndpoints,
    onChange(endpoint, change) {
      if (change === "disabled") engine.endpointDisabled(endpoint);
      if (change === "deleted") {
        engine.endpointDeleted(endpoint);
        log.deleteEndpoint(endpoint.id);
      }
      emit({ kind: "endpoint", endpointId: endpoint.id, change, reason: endpoint.disabledReason });
    },
  });
  const deliveryFaults = new DeliveryFaultList();
  const engine: DeliveryEngine = new DeliveryEngine({
    time,
    seed,
    makeId,
    endpoints,
    log,
    queue,
    faults: deliveryFaults,
    sender: new AttemptSender({
      time,
      post: options.receive === undefined ? sendOverHttp : sendInProcess(options.receive),
      signature: options.signature,
      lookUpHost: options.strictUrls ? (options.lookUpHost ?? lookUpHost) : undefined,
      refuseAddress: options.receive === undefined ? options.refuseAddress : undefined,
    }),
    retriesOfDisabled: options.retriesOfDisabled,
    eventsOfDisabled: options.eventsOfDisabled,
    onAttempt(row, { endpoint }) {
      emit({ kind: "attempt", row, url: loggedUrl(endpoint.url) });
      waits.emit(row);
    },
  });
  const events = new EventMaker({ clock, seed, newEventTypes: options.newEventTypes, addresses: options.addresses });
  let isClosed = false;
  const requireOpen = (): void => {
    if (isClosed) throw sandboxClosed();
  };
  const makeTestEvent = () => events.makeTest();
  const deliverOnce = createDeliverOnce({ endpoints, engine, log, passTime, requireOpen, makeTestEvent });

  const apiFaults = new ApiFaultList({ random: seededRandom(`${seed}\0api faults`) });
  const contactEventStore = createContactEventStore({
    clock: time.receiver,
    makeId,
    contacts: options.contacts,
    automations: options.automations,
    unknownContacts: options.unknownContacts,
    onEvent(event) {
      const { id, contactId, name, mode } = event;
      emit({ kind: "contact_event", eventId: id, contactId, name, mode });
      eventWaits.emit(event);
    },
  });
  const firstKey = options.apiKeys?.[0]?.token ?? `svc_live_${makeId.hex("api key")}${makeId.hex("api key secret")}`;
  const roles = new RoleBook({ ...options, clock, makeId });
  const givenKeys = options.apiKeys?.length ? options.apiKeys : [{ token: firstKey }];
  const apiKeys = new ApiKeyRegistry(givenKeys, { ...options, clock, roles, makeId });
  const currentKey = createCurrentKey(apiKeys, firstKey);
  const shared = { clock, makeId, options, keys: apiKeys, roles };
  const book = new AddressBook({ ...shared, contacts: contactEventStore.contactList, audiences: options.audiences });
  const fire = (type: EventType, data: object): void => {
    // The API in this process continues after the end, and delivers nothing.
    if (!isClosed) publish(events.makeOf(type, { ...data }));
  };
  let server: SandboxServer | undefined;
  const apiUrl = (): string => server?.url ?? IN_PROCESS_URL;
  const signUps = new SignUps({ book, clock, fire });
  const domainTable = new DomainTable(options.domainRecords);
  const mailServers = new MailServers(options.mailServers);
  const resources = createResources({ ...shared, apiUrl, book, owned, domainTable, mailServers, signUps, fire });
  const publish = (event: SandboxEvent): Emitted => {
    // Data that is not JSON is refused before anything is changed.
    const body = eventBody(event);
    for (const name of RESOURCE_NAMES) resources[name].onEvent?.(event);
    const deliveries = engine.publish(event, body);
    emit({ kind: "event", eventId: event.id, type: event.type, deliveries: deliveries.length });
    return { event, deliveries: deliveries.map(({ id, endpoint }) => ({ id, endpointId: endpoint.id })) };
  };
  const api = createApi({
    handlers: {
      ...handlersOf(resources),
      webhooks: createWebhooksHandlers({ endpoints, log, deliverOnce, newEventTypes: options.newEventTypes }),
      contactEvents: contactEventStore.handlers,
    },
    keys: apiKeys,
    clock,
    callerClock: time.receiver,
    faults: apiFaults,
    openLink: (path) => resources.files.openLink?.(path),
    onCall: (call) => emit({ kind: "api", call }),
    ...apiSettings(options),
  });
  const fetch = createApiFetch(api);
  const faults = {
    deliveries: deliveryFaults,
    api: apiFaults,
    clear() {
      deliveryFaults.clear();
      apiFaults.clear();
    },
  };
  const planned = (): PlannedAttempt[] => {
    const [nowMs, elapsedMs] = [clock.now(), time.elapsed()];
    return engine.waiting.map(({ dueMs, ...rest }) => ({ ...rest, dueAtMs: nowMs + Math.max(0, dueMs - elapsedMs) }));
  };
  let starting: Promise<SandboxServer> | undefined;

  const sandbox: Sandbox = {
    seed,
    clock,
    get apiKey() {
      return currentKey();
    },
    fetch,
    apiKeys,
    callers: createSandboxCallers({ keys: apiKeys, roles, makeId, now: () => clock.now() }),
    faults,
    contacts: contactEventStore,
    endpoints: createSandboxEndpoints(endpoints, deliverOnce),
    confirmSignUp: (formId, email) => signUps.confirm(formId, email),
    setMailServer: (server) => mailServers.set(server),
    setDomainRecords: (records) => domainTable.set(records),
    rows: (resource) => rowsOf(resources, resource),
    get baseUrl() {
      return apiUrl();
    },
    get clientOptions() {
      return { apiKey: currentKey(), baseUrl: IN_PROCESS_URL, fetch };
    },
    get contactEvents() {
      return contactEventStore.events;
    },
    get nextAttemptAtMs() {
      return planned()[0]?.dueAtMs;
    },
    get openDeliveries() {
      return engine.openDeliveries;
    },
    get plannedAttempts() {
      return planned();
    },
    emit(type, data = {}, emitOptions = {}) {
      requireOpen();
      EMIT_OPTIONS.checkNames(emitOptions);
      return publish(events.make(type, data, emitOptions));
    },
    deliveries(filter = {}) {
      checkFilter(filter);
      return log.list(filter).map(({ row }) => row);
    },
    async waitFor(wait = {}) {
      checkWait(wait);
      const byDefault = time.isManual ? MAX_RETRY_SPAN_MS + HOUR : 10 * SECOND * time.speed;
      return passTime.until(waits.wait(wait, checkTimeout(wait.timeoutMs ?? byDefault)));
    },
    waitForContactEvent: async (wait = {}) => eventWaits.wait(contactEventStore.events, wait),
    advance: (by) => passTime.advance(by),
    advanceToNextAttempt: (eventId) =>
      passTime.advanceTo(() => engine.waiting.find((one) => eventId === undefined || one.eventId === eventId)?.dueMs),
    settle: () => passTime.settle(),
    async listen(where = {}) {
      requireOpen();
      if (starting !== undefined) throw new PigeonholeError("invalid_argument", "The sandbox listens already.");
      starting = SandboxServer.start({ ...LISTEN_OPTIONS.resolve(where), api, sandbox });
      try {
        server = await starting;
      } catch (error) {
        starting = undefined;
        throw error;
      }
      // If the sandbox was closed while the server started, close the server too.
      requireOpen();
      return { url: server.url, port: server.port };
    },
    reset(resetOptions = {}) {
      const { keepEndpoints } = RESET_OPTIONS.resolve(resetOptions);
      engine.stop();
      log.clear();
      contactEventStore.reset();
      for (const resource of Object.values(resources)) resource.reset();
      api.reset();
      faults.clear();
      if (!keepEndpoints) endpoints.clear();
    },
    async close() {
      isClosed = true;
      engine.stop();
      waits.close();
      eventWaits.close();
      const started = await starting?.catch(() => undefined);
      await started?.close();
    },
  };
  return sandbox;
}

/** The token of the first key as it is now: a rotation by the API changes it. */
function createCurrentKey(keys: ApiKeyRegistry, first: string): () => string {
  const id = keys.find(first)?.caller.keyId;
  return () => keys.rows.find((row) => row.id === id)?.token ?? first;
}

/**
 * The API with this sandbox's options. Like the rest of the sandbox, it allows any http or https URL unless
 * `strictUrls` is set.
 */
function apiSettings(
  options: ResolvedSandboxOptions,
): Omit<SandboxApiOptions, "handlers" | "keys" | "clock" | "callerClock"> {
  const { eventsPerMinute, paths, credential, strictUrls } = options;
  return {
    eventsPerMinute,
    paths,
    credential,
    ...(strictUrls ? {} : { adaptRow: allowLocalUrls }),
  };
}
