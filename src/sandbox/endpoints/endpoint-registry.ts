import type { z } from "zod";
import type { Clock } from "../../base/clock.js";
import { checkCallInput } from "../../contract/check-call-input.js";
import type { Contract } from "../../contract/contract.js";
import type { QueryInput } from "../../contract/operation.js";
import type { WebhookCreateInput, WebhookUpdateInput } from "../../contract/webhook-endpoint.js";
import { webhooks } from "../../contract/webhooks.js";
import { isEventType } from "../../protocol/event-types.js";
import { checkServiceSecret } from "../../protocol/secret.js";
import { OWNER, actorName, actorOf } from "../access/actor.js";
import {
  type Allowlists,
  type OwnedAddresses,
  holdsAllowlists,
  normalizeAllowlists,
  requireOwnAddresses,
} from "../access/allowlists.js";
import { SandboxApiError, type Caller, inputRefusal, invalidParameter } from "../api/api-handlers.js";
import { Collection, type CollectionRow } from "../api/collection.js";
import type { MakeId } from "../api/make-id.js";
import { type PageBody, isWithin } from "../api/page-rows.js";
import { isoNow } from "../clock/sandbox-time.js";
import type { Endpoint } from "./endpoint.js";

export interface EndpointRegistryOptions {
  clock: Clock;
  makeId: MakeId;
  /** Enforces the documented rule for URLs: https and a public host. */
  strictUrls: boolean;
  /** Addresses and domains that the workspace owns, in lower case. */
  owned: Pick<OwnedAddresses, "addresses" | "domains">;
  /** Event types beyond those that this package knows. */
  newEventTypes: readonly string[];
  /** Most endpoints of the workspace. */
  maxEndpoints: number;
  onChange: (endpoint: Endpoint, change: EndpointChange) => void;
}

/** Who asks, without a caller the owner, and the secret that the receiver has already. */
interface Asked {
  caller?: Caller | undefined;
  secret?: string | undefined;
}

/** A change of an endpoint, and who made it. */
interface EndpointActivity extends CollectionRow {
  endpointId: string;
  kind: EndpointChange;
  /** Null when the service did it. */
  actor: string | null;
  createdAt: string;
}

/** What happened to an endpoint. */
export type EndpointChange = "created" | "updated" | "enabled" | "disabled" | "rotated" | "deleted";

/**
 * The endpoints of the workspace and the rules for changing them. See docs/service.md#endpoint-operations; refusals are
 * SandboxApiErrors.
 */
export class EndpointRegistry {
  readonly #options: EndpointRegistryOptions;
  readonly #endpoints: Collection<Endpoint>;
  readonly #activity: Collection<EndpointActivity>;
  #secrets = 0;

  constructor(options: EndpointRegistryOptions) {
    this.#options = options;
    const { makeId, maxEndpoints } = options;
    this.#endpoints = new Collection({
      kind: "webhook",
      idOf: (_, sequence) => `whe_${makeId.hex(`endpoint ${sequence}`)}`,
      limit: { max: maxEndpoints, code: "workspace_limit_reached" },
    });
    this.#activity = new Collection({
      kind: "webhook_activity",
      idOf: (_, sequence) => makeId.hex(`endpoint activity ${sequence}`),
    });
  }

  /** Newest first. */
  list(): Endpoint[] {
    return this.#endpoints.rows.toReversed();
  }

  /** One page of them, newest first. Throws 400 `invalid_cursor`. */
  page(query: { limit?: number | undefined; cursor?: string | undefined }): PageBody<Endpoint> {
    return this.#endpoints.page({ list: "webhooks", ...query });
  }

  /** One page of the changes, newest first. Throws 400 `invalid_cursor`. */
  activityPage(query: QueryInput<Contract["webhooks"]["activity"]>): PageBody<object> {
    const { since, until, ...page } = query;
    const where = ({ createdAt }: EndpointActivity): boolean => isWithin(createdAt, { since, until });
    return this.#activity.page({ list: "webhooks.activity", filters: [since, until], where, ...page });
  }

  /** Throws 404 `resource_not_found`. */
  get(id: string): Endpoint {
    return this.#endpoints.get(id);
  }

  /** A secret is generated unless one is given. */
  create(input: WebhookCreateInput, { caller, secret }: Asked = {}): Endpoint {
    const { url, description, eventTypes, ...given } = checkBody(webhooks.create, input, this.#options);
    const lists = normalizeAllowlists(given);
    requireWithin(caller, lists);
    if (secret !== undefined) checkServiceSecret(secret);
    const endpoint = this.#endpoints.add({
      createdAt: isoNow(this.#options.clock),
      url: normalizeUrl(url),
      description: description ?? null,
      eventTypes: [...new Set(eventTypes)],
      ...lists,
      enabled: true,
      disabledAt: null,
      disabledReason: null,
      consecutiveFailures: 0,
      lastDeliveryAt: null,
      secret: secret ?? "",
    });
    if (secret === undefined) endpoint.secret = this.#nextSecret();
    this.#changed(endpoint, "created", nameOf(caller));
    return endpoint;
  }

  update(id: string, input: WebhookUpdateInput, caller?: Caller): Endpoint {
    const endpoint = this.get(id);
    const { url, description, eventTypes, enabled, ...changed } = checkBody(webhooks.update, input, this.#options);
    requireWithin(caller, endpoint);
    const { addressAllowlist = endpoint.addressAllowlist, domainAllowlist = endpoint.domainAllowlist } = changed;
    const lists = normalizeAllowlists({ addressAllowlist, domainAllowlist });
    requireWithin(caller, lists);
    Object.assign(endpoint, lists);
    if (url !== undefined) endpoint.url = normalizeUrl(url);
    if (description !== undefined) endpoint.description = description;
    if (eventTypes !== undefined) endpoint.eventTypes = [...new Set(eventTypes)];
    const actor = nameOf(caller);
    this.#changed(endpoint, "updated", actor);
    if (enabled !== undefined && enabled !== endpoint.enabled) this.#switch(endpoint, enabled, { reason: null, actor });
    return endpoint;
  }

  /** Deletes the endpoint and its secret, and returns its tombstone. `onChange` deletes its log. */
  delete(id: string, caller?: Caller): object {
    const endpoint = this.get(id);
    requireWithin(caller, endpoint);
    const tombstone = this.#endpoints.delete(id);
    this.#changed(endpoint, "deleted", nameOf(caller));
    return tombstone;
  }

  /**
   * The old secret is not used from now on. The new one gives access to all events of the endpoint, so a key with an
   * allowlist does not get it for an endpoint that covers more.
   */
  rotateSecret(id: string, { caller, secret }: Asked = {}): Endpoint {
    const endpoint = this.get(id);
    requireWithin(caller, endpoint);
    if (secret !== undefined) checkServiceSecret(secret);
    endpoint.secret = secret ?? this.#nextSecret();
    this.#changed(endpoint, "rotated", nameOf(caller));
    return endpoint;
  }

  /** Switches an endpoint off on behalf of the service. */
  disable(endpoint: Endpoint, reason: string): void {
    if (!endpoint.enabled || this.#endpoints.find(endpoint.id) === undefined) return;
    this.#switch(endpoint, false, { reason, actor: null });
  }

  clear(): void {
    this.#endpoints.clear();
    this.#activity.clear();
  }

  /** `reason` is null if the owner does it. Then there is no time either. See docs/service.md#endpoint-states. */
  #switch(
    endpoint: Endpoint,
    enabled: boolean,
    { reason, actor }: { reason: string | null; actor: string | null },
  ): void {
    endpoint.enabled = enabled;
    endpoint.disabledAt = reason === null ? null : isoNow(this.#options.clock);
    endpoint.disabledReason = reason;
    if (enabled) endpoint.consecutiveFailures = 0;
    this.#changed(endpoint, enabled ? "enabled" : "disabled", actor);
  }

  #changed(endpoint: Endpoint, kind: EndpointChange, actor: string | null): void {
    this.#activity.add({ endpointId: endpoint.id, kind, actor, createdAt: isoNow(this.#options.clock) });
    this.#options.onChange(endpoint, kind);
  }

  #nextSecret(): string {
    this.#secrets += 1;
    return this.#options.makeId.secret(`secret ${this.#secrets}`);
  }
}

/** A key with an allowlist may change only endpoints inside its send scope. See docs/service.md#endpoint-limits. */
function requireWithin(caller: Caller | undefined, lists: Allowlists): void {
  if (caller === undefined || holdsAllowlists(caller, lists)) return;
  throw new SandboxApiError({ code: "capability_unsupported", param: "addressAllowlist" });
}

/** How the activity names who did it: calls without a key are the owner's. */
function nameOf(caller: Caller | undefined): string {
  return caller === undefined ? actorName(OWNER, () => undefined) : actorName(actorOf(caller), () => caller.name);
}

function normalizeUrl(text: string): string {
  const url = new URL(text);
  url.hash = "";
  return url.href;
}

/** Checks a body by every documented rule, those of the workspace and of the event types last; throws 422. */
function checkBody<Input extends WebhookUpdateInput>(
  { body, localBody }: { body: z.ZodType<Input>; localBody: z.ZodType<Input> },
  input: unknown,
  { strictUrls, newEventTypes, owned }: EndpointRegistryOptions,
): Input {
  const checked = checkCallInput(webhooks.update, strictUrls ? body : localBody, input);
  if (!checked.ok) throw inputRefusal(checked.issue);
  const { eventTypes = [], addressAllowlist } = checked.value;
  const strange = eventTypes.findIndex((type) => !isEventType(type) && !newEventTypes.includes(type));
  if (strange !== -1) throw invalidParameter(`eventTypes.${strange}`, "There is no such event type.");
  requireOwnAddresses(owned, addressAllowlist);
  return checked.value;
}
