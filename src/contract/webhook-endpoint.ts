import { z } from "zod";
import { ENDPOINT_ID } from "../protocol/endpoint-id.js";
import { EVENT_TYPES } from "../protocol/event-types.js";
import { LIMITS } from "../protocol/limits.js";
import { addressAllowlist, domainAllowlist } from "./allowlists.js";
import { nullable, openEnum, textOf } from "./shapes.js";
import { isAllowedWebhookUrl } from "./webhook-url.js";

const endpointUrl = z.string().refine(isAllowedWebhookUrl, {
  error: "Must be an https URL of a public host: no localhost, .localhost, .internal, .local or private IP address.",
});

/** `whe_` and 24 hex characters. See docs/service.md#identifiers. */
export const webhookId = z.string().regex(ENDPOINT_ID, { error: "Must be whe_ and 24 hex characters." });

/** Any dotted name, so that types newer than this package can be named; `*` and `email.*` are refused. */
const eventTypeName = openEnum(
  EVENT_TYPES,
  z.string().regex(/^\w+(?:\.\w+)+$/, { error: 'Must be an event type by its whole name; ["*"] can only be read.' }),
);

const writable = {
  /** An https URL of a public host. */
  url: endpointUrl,
  /** The complete list. Omitted or empty means the default set. */
  eventTypes: z.array(eventTypeName).readonly().optional(),
  description: textOf(0, LIMITS.endpointDescriptionLength).optional(),
  /** Receive events of these addresses of the workspace only; at most 50. */
  addressAllowlist: addressAllowlist.optional(),
  /**
   * Receive events of these domains of the workspace only; at most 25. If both lists are empty, it receives events of
   * every address.
   */
  domainAllowlist: domainAllowlist.optional(),
};

/** Body of creation; see docs/service.md#endpoint-operations. */
export const webhookCreateInput = z.strictObject(writable);

/** Body of an update: omitted fields stay unchanged. See docs/service.md#endpoint-operations. */
export const webhookUpdateInput = z.strictObject({
  ...writable,
  url: endpointUrl.optional(),
  /** At most 200 characters; null clears it. */
  description: writable.description.nullable(),
  /** False switches it off. True switches it on again and resets its count of failures. */
  enabled: z.boolean().optional(),
});

const localUrl = z.string().refine(isHttpUrl, { error: "Must be an http or https URL." });

/** {@link webhookCreateInput} for an emulator whose receivers are on this machine: any http or https URL. */
export const localWebhookCreateInput = webhookCreateInput.extend({ url: localUrl });

/** {@link webhookUpdateInput} for the same emulator. */
export const localWebhookUpdateInput = webhookUpdateInput.extend({ url: localUrl.optional() });

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/**
 * An endpoint as read; see docs/service.md#endpoint. Only the id is required, so that an answer with a secret is never
 * refused.
 */
export const webhookEndpoint = z.looseObject({
  id: z.string(),
  url: z.string().default(""),
  description: nullable(z.string()),
  /** `["*"]` if none were named. */
  eventTypes: z.array(openEnum(["*", ...EVENT_TYPES])).default([]),
  enabled: z.boolean().default(true),
  /** When the service switched it off; null when the owner did. */
  disabledAt: nullable(z.string()),
  disabledReason: nullable(z.string()),
  consecutiveFailures: z.number().default(0),
  addressAllowlist: z.array(z.string()).default([]),
  domainAllowlist: z.array(z.string()).default([]),
  /** Changes on failed attempts too. */
  lastDeliveryAt: nullable(z.string()),
  createdAt: z.string().default(""),
});

/** An endpoint with its secret: the answer to creation and rotation, and the only time the secret appears. */
export const webhookEndpointWithSecret = z.looseObject({
  ...webhookEndpoint.shape,
  /** SECRET, including `whsec_`. Store it now and never log it. */
  secret: z.string(),
});

/** How the attempt of a test went; see docs/service.md#test-deliveries. */
export const testDelivery = z.looseObject({
  /** `delivered` for any 2xx; a 3xx counts as failed. */
  status: openEnum(["delivered", "failed"]),
  /** Null when there was no answer. */
  responseCode: nullable(z.number()),
  durationMs: nullable(z.number()),
  error: nullable(z.string()),
});

/** A row of the delivery log. ASSUMED but for status, responseCode, durationMs, error; see docs/assumptions.md. */
export const webhookDelivery = z.looseObject({
  /** What a replay takes as `deliveryId`. */
  id: z.string(),
  ...testDelivery.shape,
  /** The endpoint that it went to. */
  endpointId: nullable(z.string()),
  attempt: nullable(z.number()),
  /** What was sent: an event, a test, or a replayed event; null if the log does not say. */
  kind: nullable(openEnum(["event", "test", "replay"])),
  eventId: nullable(z.string()),
  eventType: nullable(z.string()),
  createdAt: nullable(z.string()),
});

/** A change of an endpoint. ASSUMED; see docs/assumptions.md. */
export const webhookActivity = z.looseObject({
  id: z.string(),
  endpointId: nullable(z.string()),
  kind: openEnum(["created", "updated", "enabled", "disabled", "rotated", "deleted"]),
  /** `@name` for a person, `API key name` for a key; null when the service did it. */
  actor: nullable(z.string()),
  createdAt: nullable(z.string()),
});

/** A webhook endpoint as the API returns it, without its secret. */
export type WebhookEndpoint = z.output<typeof webhookEndpoint>;
/** A delivery as the API lists it. */
export type WebhookDelivery = z.output<typeof webhookDelivery>;
/** A change of an endpoint as the API lists it. */
export type WebhookActivity = z.output<typeof webhookActivity>;
/** What a new webhook endpoint is made of. */
export type WebhookCreateInput = z.input<typeof webhookCreateInput>;
/** What may be changed of a webhook endpoint. */
export type WebhookUpdateInput = z.input<typeof webhookUpdateInput>;
