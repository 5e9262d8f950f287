import type { Clock } from "../../base/clock.js";
import type { WebhookCreateInput, WebhookEndpoint, WebhookUpdateInput } from "../../contract/webhook-endpoint.js";
import type { EventType } from "../../protocol/event-types.js";
import type { SandboxApiKeys } from "../access/api-key.js";
import type { SandboxCallers } from "../access/sandbox-callers.js";
import type { ApiFaultList } from "../calls/api-faults.js";
import type { ApiFetch } from "../calls/request-handler.js";
import type { SandboxContacts } from "../contact-events/address-book.js";
import type { ContactEventWait, StoredEvent } from "../contact-events/stored-events.js";
import type { AttemptFilter } from "../delivery/attempt-log.js";
import type { AttemptRow } from "../delivery/attempt-row.js";
import type { DeliveryFaultList } from "../delivery/delivery-faults.js";
import type { PlannedAttempt, SandboxEvent } from "../delivery/scheduled-delivery.js";
import type { AttemptWait } from "../delivery/attempt-wait.js";
import type { ResourceName } from "../resources/create-resources.js";
import type { MailServerInput } from "../resources/mail-servers.js";

/** An endpoint with its secret, which the receiver needs. */
export type EndpointWithSecret = WebhookEndpoint & { secret: string };

/**
 * Single attempts, requested by a caller who waits for the result; undefined if the endpoint was deleted meanwhile.
 * Refusals are SandboxApiErrors.
 */
export interface DeliverOnce {
  /** For any subscription of the endpoint, and also while it is off. See docs/service.md#test-deliveries. */
  test(endpointId: string): Promise<AttemptRow | undefined>;
  /** Sends a failed delivery again; the endpoint must be on. See docs/service.md#replay. */
  replay(endpointId: string, rowId: string): Promise<AttemptRow | undefined>;
}

/**
 * The endpoints of the workspace, without HTTP and by the same rules. A refusal throws a SandboxApiError: status, code,
 * param.
 */
export interface SandboxEndpoints extends DeliverOnce {
  /** `secret`: one that the receiver already has. @default one made from the seed */
  create(input: WebhookCreateInput, options?: { secret?: string | undefined }): EndpointWithSecret;
  /** The endpoint as the service lists it, without its secret. Throws `resource_not_found`. */
  get(id: string): WebhookEndpoint;
  /** Newest first. */
  list(): WebhookEndpoint[];
  /** Changes the endpoint; fields that are left out stay. See docs/service.md#endpoint-operations. */
  update(id: string, input: WebhookUpdateInput): WebhookEndpoint;
  /** Deletes the endpoint, its secret and its delivery log; see docs/service.md#endpoint-deletion. */
  delete(id: string): void;
  /** Gives the endpoint another secret; the old one is not used from now on. See docs/service.md#secret-rotation. */
  rotateSecret(id: string, options?: { secret?: string | undefined }): EndpointWithSecret;
}

/** How the sandbox sends an event of its own. */
export interface EmitOptions {
  /** The workspace's addresses that the event names, which allowlists compare. @default read from `data` */
  address?: string | readonly string[] | undefined;
  /** Id of the event; the same id twice makes a duplicate. @default "evt_" and 24 new hex digits */
  id?: string | undefined;
  /** Events of one story are about the same person, message, file or form. @default a new story */
  story?: string | undefined;
}

/** A fired event. */
export interface Emitted {
  /** The event as it is delivered, before it is signed. */
  event: SandboxEvent;
  /** One for each endpoint that receives it, with the id of the delivery. If there is none, the event is lost. */
  deliveries: { id: string; endpointId: string }[];
}

/** Where a sandbox listens. */
export interface SandboxListenOptions {
  /** Port on this machine; 0 takes a free one. @default 0 */
  port?: number | undefined;
  /** Address of this machine; no other is allowed, since the answers contain secrets. @default "127.0.0.1" */
  host?: "127.0.0.1" | "::1" | "localhost" | undefined;
}

/** What `sandbox.reset` keeps. */
export interface SandboxResetOptions {
  /** Keeps the endpoints with their secrets and states. @default false */
  keepEndpoints?: boolean | undefined;
}

/** The emulated service. */
export interface Sandbox {
  /** With the same seed, another sandbox gives the same results for the same calls. */
  readonly seed: string;
  /** The service's clock; give it to the receiver as `clock` to share it. */
  readonly clock: Clock;
  /** The token of the first API key, as it is now. */
  readonly apiKey: string;
  /** Where the API listens; before `listen`, a URL that works only with `fetch`. */
  readonly baseUrl: string;
  /** Calls the API without a socket. */
  readonly fetch: ApiFetch;
  /** For `createClient`, and for the option `api` of createReceiver: the first key, and the API without a socket. */
  readonly clientOptions: { apiKey: string; baseUrl: string; fetch: ApiFetch };
  /** The API keys that calls may use; see docs/service.md#api-keys. */
  readonly apiKeys: SandboxApiKeys;
  /** Makes access tokens of the owner and of members, and keys of every kind. See docs/service.md#callers. */
  readonly callers: SandboxCallers;
  /** The endpoints that deliveries go to. */
  readonly endpoints: SandboxEndpoints;
  /** Contacts, automations and waits. */
  readonly contacts: SandboxContacts;
  /** Every stored contact event, in the order of recording. */
  readonly contactEvents: readonly StoredEvent[];
  /**
   * What opening the link of a confirmation email does: the person joins the form's audiences, and `form.confirmed` is
   * fired. False when no sign-up of this address waits for it, or the form emailed it no link.
   */
  confirmSignUp(formId: string, email: string): boolean;
  /**
   * Changes the mail servers of a domain, in place of its entry in the option `mailServers`: another password, or
   * servers that do not answer. Mailboxes find out with their next sync.
   */
  setMailServer(server: MailServerInput): void;
  /** Every row of a resource, such as `labels`, as the API sends it to a caller who sees all. */
  rows(resource: ResourceName): readonly object[];
  /** Injected faults: of deliveries to receivers, and in the API. */
  readonly faults: { deliveries: DeliveryFaultList; api: ApiFaultList; clear(): void };
  /** Every attempt that is due later, soonest first. */
  readonly plannedAttempts: readonly PlannedAttempt[];
  /** Number of deliveries that have neither succeeded nor finally failed. */
  readonly openDeliveries: number;

  /**
   * Fires an event. Its first attempts start at once, also with a manual clock. `data` replaces fields of the sample's,
   * one level deep. What it is about is in the workspace, so that calls find it: files, people, messages to forward,
   * contacts that signed up. Throws `invalid_argument` for a type that the service does not have.
   */
  emit(type: EventType | (string & {}), data?: object, options?: EmitOptions): Emitted;
  /** The delivery log, oldest first. */
  deliveries(filter?: AttemptFilter): AttemptRow[];
  /**
   * The first attempt that matches, in the log or later. Give the `eventId` to select one event of several. A manual
   * clock is advanced as far as needed. Rejects with `wait_timeout`, or `stopped` when the sandbox is closed.
   */
  waitFor(wait?: AttemptWait): Promise<AttemptRow>;
  /**
   * The first contact event that matches, stored or later. Takes real time with every clock. Rejects like `waitFor`.
   */
  waitForContactEvent(wait?: ContactEventWait): Promise<StoredEvent>;
  /**
   * Advances a clock that is `manual` or `advanceable`: milliseconds, or a text such as `"1h30m"`. Attempts start in
   * the order in which they become due, and each is answered before the clock moves on.
   */
  advance(by: number | string): Promise<void>;
  /**
   * Advances the clock in the same way until the next attempt, of this event or of any, was answered. Resolves with the
   * milliseconds, or with undefined if none is planned.
   */
  advanceToNextAttempt(eventId?: string): Promise<number | undefined>;
  /** Waits until all running attempts are answered. */
  settle(): Promise<void>;
  /**
   * Serves the API, and the control API under `/sandbox/`, on this machine. Resolves with the base URL and the port.
   * Rejects with `port_in_use`.
   */
  listen(options?: SandboxListenOptions): Promise<{ url: string; port: number }>;
  /**
   * Forgets deliveries, contact events, the rows of every resource and faults, and the endpoints unless `keepEndpoints`
   * is set. What the options say is there again. The clock continues.
   */
  reset(options?: SandboxResetOptions): void;
  /**
   * Ends all deliveries, waits and connections. Calls that would send or wait afterwards throw `stopped`. The API in
   * this process continues.
   */
  close(): Promise<void>;
}
