import type { Clock } from "../base/clock.js";
import { HOUR, SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, flag } from "../base/options.js";
import { seededRandom } from "../base/random.js";
import { allowLocalUrls } from "../contract/bind-operations.js";
import type { EventType } from "../protocol/event-types.js";
import { MAX_RETRY_SPAN_MS } from "../protocol/retry-schedule.js";
import { OwnedAddresses } from "./access/allowlists.js";
import { RoleBook } from "./access/role-book.js";
import { createSandboxCallers } from "./access/sandbox-callers.js";
import { ApiFaultList } from "./calls/api-faults.js";
import { createApiFetch } from "./calls/request-handler.js";
import { ApiKeyRegistry } from "./access/api-key-registry.js";
import { Api } from "./calls/create-api.js";
import { type StoredEvent, waitForContactEvent } from "./contact-events/stored-events.js";
import { AddressBook } from "./contact-events/address-book.js";
import { ContactEventStore } from "./contact-events/contact-event-store.js";
import type { DeliveryFaultList } from "./delivery/delivery-faults.js";
import { type PlannedAttempt, type SandboxEvent, eventBody } from "./delivery/scheduled-delivery.js";
import { endpointBody, withSecret } from "./endpoints/endpoint.js";
import type { Happened } from "./log-entry.js";
import { SandboxDeliveries } from "./sandbox-deliveries.js";
import { EventMaker } from "./event-maker.js";
import { type MakeId, createMakeId } from "./api/make-id.js";
import { type ResolvedSandboxOptions, type SandboxOptions, resolveSandboxOptions } from "./options.js";
import { type SandboxTime, createSandboxTime } from "./clock/sandbox-time.js";
import type { Emitted, Sandbox, SandboxResetOptions } from "./control/sandbox.js";
import { LISTEN_OPTIONS, type SandboxServer, openServer } from "./sandbox-server.js";
import { FILTER_OPTIONS, WAIT_OPTIONS, checkTimeout, waitForAttempt } from "./delivery/attempt-wait.js";
import { EventWaiter } from "./delivery/event-waiter.js";
import {
  RESOURCE_NAMES,
  type SandboxResources,
  createResources,
  handlersOf,
  rowsOf,
} from "./resources/create-resources.js";
import { MailServers } from "./resources/mail-servers.js";
import { SignUps } from "./resources/sign-ups.js";
import { createWebhooksHandlers } from "./webhooks-handlers.js";

/** This name is never resolved. A client without a socket uses it as base URL. */
const IN_PROCESS_URL = "http://localhost";

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
  return new EmulatedService(resolveSandboxOptions(given));
}

class EmulatedService implements Sandbox {
  readonly seed: string;
  readonly clock: Clock;
  readonly fetch: Sandbox["fetch"];
  readonly apiKeys: ApiKeyRegistry;
  readonly callers: Sandbox["callers"];
  readonly contacts: ContactEventStore;
  readonly endpoints: Sandbox["endpoints"];
  readonly faults: Sandbox["faults"];
  readonly #options: ResolvedSandboxOptions;
  readonly #time: SandboxTime;
  readonly #makeId: MakeId;
  readonly #eventWaiter = new EventWaiter<StoredEvent>();
  readonly #delivering: SandboxDeliveries;
  readonly #events: EventMaker;
  readonly #mailServers: MailServers;
  readonly #signUps: SignUps;
  readonly #resources: SandboxResources;
  readonly #api: Api;
  #starting: Promise<SandboxServer> | undefined;
  #server: SandboxServer | undefined;

  constructor(options: ResolvedSandboxOptions) {
    const { seed, receiverTime } = options;
    const time = createSandboxTime(options.clock, receiverTime);
    const { clock } = time;
    const makeId = createMakeId(seed);
    this.seed = seed;
    this.clock = clock;
    this.#options = options;
    this.#time = time;
    this.#makeId = makeId;

    const owned = new OwnedAddresses(options);
    const note = (happened: Happened): void => this.#note(happened);
    this.#events = new EventMaker({ ...options, clock });
    this.#delivering = new SandboxDeliveries({ options, time, makeId, owned, events: this.#events, note });
    this.faults = makeFaults(this.#delivering.faults, seed);
    this.endpoints = createSandboxEndpoints(this.#delivering);

    const book = new AddressBook({ ...options, clock, makeId });
    this.contacts = this.#makeContacts(book);
    const roles = new RoleBook({ ...options, clock, makeId });
    const byDefault = [{ token: `svc_live_${makeId.hex("api key")}${makeId.hex("api key secret")}` }];
    const givenKeys = options.apiKeys?.length ? options.apiKeys : byDefault;
    const keys = (this.apiKeys = new ApiKeyRegistry(givenKeys, { ...options, clock, roles, makeId }));
    this.callers = createSandboxCallers({ keys, roles, makeId, now: () => clock.now() });
    const shared = { clock, makeId, options, keys, roles, owned, fire: this.#fire, apiUrl: this.#apiUrl };
    const signUps = (this.#signUps = new SignUps({ ...shared, book }));
    const mailServers = (this.#mailServers = new MailServers(options.mailServers));
    this.#resources = createResources({ ...shared, book, mailServers, signUps });
    this.#api = this.#makeApi();
    this.fetch = createApiFetch(this.#api);
  }

  get apiKey(): string {
    return this.apiKeys.firstToken;
  }

  get baseUrl(): string {
    return this.#apiUrl();
  }

  get clientOptions(): Sandbox["clientOptions"] {
    return { apiKey: this.apiKey, baseUrl: IN_PROCESS_URL, fetch: this.fetch };
  }

  get contactEvents(): Sandbox["contactEvents"] {
    return this.contacts.events;
  }

  get openDeliveries(): number {
    return this.#delivering.engine.openDeliveries;
  }

  get plannedAttempts(): readonly PlannedAttempt[] {
    return this.#delivering.engine.planned;
  }

  // Functions of their own, which a caller can take out of the sandbox.

  readonly confirmSignUp: Sandbox["confirmSignUp"] = (formId, email) => this.#signUps.confirm(formId, email);
  readonly setMailServer: Sandbox["setMailServer"] = (server) => this.#mailServers.set(server);
  readonly rows: Sandbox["rows"] = (resource) => rowsOf(this.#resources, resource);

  readonly emit: Sandbox["emit"] = (type, data = {}, options = {}) => {
    this.#delivering.requireOpen();
    return this.#publish(this.#events.make(type, data, options));
  };

  readonly deliveries: Sandbox["deliveries"] = (filter = {}) => {
    FILTER_OPTIONS.resolve(filter);
    return this.#delivering.log.list(filter).map(({ row }) => row);
  };

  readonly waitFor: Sandbox["waitFor"] = async (wait = {}) => {
    WAIT_OPTIONS.resolve(wait);
    const byDefault = this.#time.isManual ? MAX_RETRY_SPAN_MS + HOUR : 10 * SECOND * this.#time.speed;
    const timeoutMs = checkTimeout(wait.timeoutMs ?? byDefault);
    const { waiter, log, passTime } = this.#delivering;
    return passTime.until(waitForAttempt(wait, { waiter, log, clock: this.#time.awaited, timeoutMs }));
  };

  readonly waitForContactEvent: Sandbox["waitForContactEvent"] = async (wait = {}) =>
    waitForContactEvent(this.#eventWaiter, this.contacts.events, wait);

  readonly advance: Sandbox["advance"] = (by) => this.#delivering.passTime.advance(by);

  readonly advanceToNextAttempt: Sandbox["advanceToNextAttempt"] = (eventId) => {
    const isMeant = (one: { eventId: string }): boolean => eventId === undefined || one.eventId === eventId;
    return this.#delivering.passTime.advanceTo((elapsedMs) => {
      // Read first: a millisecond that passes meanwhile must not end the wait before the attempt.
      const nowMs = this.clock.now();
      const next = this.plannedAttempts.find(isMeant);
      return next && elapsedMs + next.dueAtMs - nowMs;
    });
  };

  readonly settle: Sandbox["settle"] = () => this.#delivering.passTime.settle();

  readonly listen: Sandbox["listen"] = async (where = {}) => {
    this.#delivering.requireOpen();
    if (this.#starting !== undefined) {
      throw new PigeonholeError("invalid_argument", "The sandbox listens already.");
    }
    this.#starting = openServer({ ...LISTEN_OPTIONS.resolve(where), api: this.#api, sandbox: this });
    try {
      this.#server = await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
    // If the sandbox was closed while the server started, close the server too.
    this.#delivering.requireOpen();
    return { url: this.#server.url, port: this.#server.port };
  };

  readonly reset: Sandbox["reset"] = (options = {}) => {
    const { keepEndpoints } = RESET_OPTIONS.resolve(options);
    this.#delivering.engine.stop();
    this.#delivering.log.clear();
    this.contacts.reset();
    for (const resource of Object.values(this.#resources)) resource.reset();
    this.#api.reset();
    this.faults.clear();
    if (!keepEndpoints) this.#delivering.endpoints.clear();
  };

  readonly close: Sandbox["close"] = async () => {
    this.#delivering.close();
    this.#eventWaiter.close();
    const started = await this.#starting?.catch(() => undefined);
    await started?.close();
  };

  readonly #apiUrl = (): string => this.#server?.url ?? IN_PROCESS_URL;

  readonly #fire = (type: EventType, data: object): void => {
    // The API in this process continues after the end, and delivers nothing.
    if (!this.#delivering.isClosed) this.#publish(this.#events.makeOf(type, { ...data }));
  };

  #note(happened: Happened): void {
    this.#options.onLog?.({ atMs: this.clock.now(), ...happened });
  }

  #publish(event: SandboxEvent): Emitted {
    // Data that is not JSON is refused before anything is changed.
    const body = eventBody(event);
    for (const name of RESOURCE_NAMES) this.#resources[name].onEvent?.(event);
    const deliveries = this.#delivering.engine.publish(event, body);
    this.#note({ kind: "event", eventId: event.id, type: event.type, deliveries: deliveries.length });
    return { event, deliveries: deliveries.map(({ id, endpoint }) => ({ id, endpointId: endpoint.id })) };
  }

  #makeContacts(book: AddressBook): ContactEventStore {
    const { automations } = this.#options;
    return new ContactEventStore({
      clock: this.#time.receiver,
      makeId: this.#makeId,
      book,
      automations,
      onEvent: (event) => {
        const { id, contactId, name, mode } = event;
        this.#note({ kind: "contact_event", eventId: id, contactId, name, mode });
        this.#eventWaiter.emit(event);
      },
    });
  }

  /** Like the rest of the sandbox, it allows any http or https URL unless `strictUrls` is set. */
  #makeApi(): Api {
    const { newEventTypes, eventsPerMinute, paths, credential, strictUrls } = this.#options;
    return new Api({
      handlers: {
        ...handlersOf(this.#resources),
        webhooks: createWebhooksHandlers(this.#delivering, newEventTypes),
        contactEvents: this.contacts.handlers,
      },
      keys: this.apiKeys,
      clock: this.clock,
      callerClock: this.#time.receiver,
      faults: this.faults.api,
      openLink: (path) => this.#resources.files.openLink?.(path),
      onCall: (call) => this.#note({ kind: "api", call }),
      eventsPerMinute,
      paths,
      credential,
      ...(strictUrls ? {} : { adaptRow: allowLocalUrls }),
    });
  }
}

function makeFaults(deliveries: DeliveryFaultList, seed: string): Sandbox["faults"] {
  const api = new ApiFaultList({ random: seededRandom(`${seed}\0api faults`) });
  return {
    deliveries,
    api,
    clear() {
      deliveries.clear();
      api.clear();
    },
  };
}

/** The endpoints as the sandbox shows them: copies, so that only the rules change them. */
function createSandboxEndpoints(deliveries: SandboxDeliveries): Sandbox["endpoints"] {
  const { endpoints: registry } = deliveries;
  return {
    create: (input, options) => withSecret(registry.create(input, options)),
    get: (id) => endpointBody(registry.get(id)),
    list: () => registry.list().map(endpointBody),
    update: (id, input) => endpointBody(registry.update(id, input)),
    delete: (id) => void registry.delete(id),
    rotateSecret: (id, options) => withSecret(registry.rotateSecret(id, options)),
    test: (id) => deliveries.test(id),
    replay: (id, rowId) => deliveries.replay(id, rowId),
  };
}
