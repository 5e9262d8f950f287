import { z } from "zod";
import { localWebhookCreateInput, localWebhookUpdateInput } from "./local-webhook.js";
import type { Resource } from "./operation.js";
import { listOf, pageOf, pageQuery } from "./paging.js";
import { openEnum, timestamp, tombstone, webhookId } from "./shapes.js";
import {
  webhookActivity,
  webhookCreateInput,
  webhookDelivery,
  webhookEndpoint,
  webhookEndpointWithSecret,
  webhookEventType,
  webhookReplay,
  webhookStats,
  webhookTest,
  webhookUpdateInput,
} from "./webhook-endpoint.js";

const params = z.strictObject({ id: webhookId });
const id = "whe_65b8f0a2c4d6e8f001234567";

const exampleInput = {
  url: "https://app.example.com/webhooks/mail",
  eventTypes: ["email.received", "email.bounced"],
  description: "Production",
  addressAllowlist: ["support@acme.example.com"],
  domainAllowlist: [],
};

const exampleEndpoint = {
  ...exampleInput,
  id,
  enabled: true,
  disabledAt: null,
  disabledReason: null,
  consecutiveFailures: 0,
  lastDeliveryAt: null,
  createdAt: "2026-01-31T09:30:00Z",
};

const exampleWithSecret = { ...exampleEndpoint, secret: `whsec_${"example0".repeat(5)}abc` };
const exampleAttempt = { status: "delivered", responseCode: 200, durationMs: 84, error: null };
const deliveryId = "65b8f0a2c4d6e8f0089abcde";

const deliveryParams = z.strictObject({
  id: webhookId,
  deliveryId: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, { error: "Must be the id of a row of the delivery log." }),
});

const timeRange = {
  /** At or after this time. */
  since: timestamp.optional(),
  /** Before this time. */
  until: timestamp.optional(),
};

const deliveriesQuery = z.strictObject({
  /** Only attempts of this status. */
  status: openEnum(["delivered", "failed"]).optional(),
  ...timeRange,
  ...pageQuery(),
});

const exampleRow = {
  id: deliveryId,
  endpointId: id,
  attempt: 1,
  kind: "event",
  ...exampleAttempt,
  eventId: "evt_1",
  eventType: "email.received",
  createdAt: "2026-01-31T09:30:00Z",
};

const examplePage = { object: "list", data: [exampleRow], hasMore: false, nextCursor: null };
const exampleFilters = { status: "failed", since: "2026-01-30T00:00:00Z" };

const pageErrors = ["insufficient_scope", "invalid_cursor", "invalid_parameter"] as const;
const readErrors = ["insufficient_scope", "resource_not_found"] as const;
const writeErrors = ["insufficient_scope", "invalid_parameter", "unknown_parameter", "invalid_webhook_url"] as const;

/** Webhook endpoints. See docs/service.md#endpoint-operations; scopes and the paths after `test` are assumed. */
export const webhooks = {
  /** Lists the endpoints, newest first, without secrets. */
  list: {
    method: "GET",
    path: "/webhooks",
    scope: "webhooks:read",
    query: z.strictObject(pageQuery()),
    status: [200],
    result: pageOf(webhookEndpoint),
    paged: true,
    retry: "safe",
    errors: pageErrors,
    issueCodes: { cursor: "invalid_cursor" },
    doc: "Lists the endpoints, newest first, without secrets.",
    example: {
      query: { limit: 100 },
      result: { object: "list", data: [exampleEndpoint], hasMore: false, nextCursor: null },
    },
  },
  /** Reads one endpoint, without its secret. */
  get: {
    method: "GET",
    path: "/webhooks/{id}",
    scope: "webhooks:read",
    params,
    status: [200],
    result: webhookEndpoint,
    retry: "safe",
    errors: readErrors,
    doc: "Reads one endpoint, without its secret.",
    example: { params: { id }, result: exampleEndpoint },
  },
  /** Creates an endpoint; the answer holds its secret, the only time it appears. */
  create: {
    method: "POST",
    path: "/webhooks",
    scope: "webhooks:write",
    body: webhookCreateInput,
    localBody: localWebhookCreateInput,
    status: [201],
    result: webhookEndpointWithSecret,
    retry: "never",
    errors: [...writeErrors, "workspace_limit_reached", "capability_unsupported"],
    issueCodes: { url: "invalid_webhook_url" },
    doc: "Creates an endpoint; the answer holds its secret, the only time it appears.",
    example: { body: exampleInput, result: exampleWithSecret },
  },
  /** Changes an endpoint, or switches it on or off; omitted fields stay unchanged. */
  update: {
    method: "PATCH",
    path: "/webhooks/{id}",
    scope: "webhooks:write",
    params,
    body: webhookUpdateInput,
    localBody: localWebhookUpdateInput,
    status: [200],
    result: webhookEndpoint,
    retry: "never",
    errors: [...writeErrors, "resource_not_found", "capability_unsupported"],
    issueCodes: { url: "invalid_webhook_url" },
    doc: "Changes an endpoint, or switches it on or off; omitted fields stay unchanged.",
    example: { params: { id }, body: { enabled: true, description: null }, result: exampleEndpoint },
  },
  /** Deletes an endpoint with its secret and its delivery log. */
  delete: {
    method: "DELETE",
    path: "/webhooks/{id}",
    scope: "webhooks:write",
    params,
    status: [200],
    result: tombstone,
    retry: "never",
    errors: [...readErrors, "capability_unsupported"],
    doc: "Deletes an endpoint with its secret and its delivery log.",
    example: { params: { id }, result: { object: "webhook", id, deleted: true } },
  },
  /** Sends one signed test event to the endpoint, waits for the attempt and returns its result. */
  test: {
    method: "POST",
    path: "/webhooks/{id}/test",
    scope: "webhooks:write",
    params,
    status: [200],
    result: webhookTest,
    retry: "never",
    errors: readErrors,
    doc: "Sends one signed test event to the endpoint, waits for the attempt and returns its result.",
    example: { params: { id }, result: { object: "webhook_test", id, delivery: exampleAttempt } },
  },
  /** Gives the endpoint a new secret; the old one stops working at once. The answer holds the new one. */
  rotateSecret: {
    method: "POST",
    path: "/webhooks/{id}/rotate-secret",
    pathIsAssumed: true,
    scope: "webhooks:write",
    params,
    status: [200],
    result: webhookEndpointWithSecret,
    retry: "never",
    errors: [...readErrors, "capability_unsupported"],
    doc: "Gives the endpoint a new secret; the old one stops working at once. The answer holds the new one.",
    example: { params: { id }, result: exampleWithSecret },
  },
  /** Lists the attempts to deliver to the endpoint. */
  deliveries: {
    method: "GET",
    path: "/webhooks/{id}/deliveries",
    pathIsAssumed: true,
    scope: "webhooks:read",
    params,
    query: deliveriesQuery,
    status: [200],
    result: pageOf(webhookDelivery),
    paged: true,
    retry: "safe",
    errors: [...readErrors, "invalid_cursor", "invalid_parameter"],
    issueCodes: { cursor: "invalid_cursor" },
    doc: "Lists the attempts to deliver to the endpoint.",
    example: { params: { id }, query: exampleFilters, result: examplePage },
  },
  /** Reads one attempt to deliver to the endpoint. */
  delivery: {
    method: "GET",
    path: "/webhooks/{id}/deliveries/{deliveryId}",
    pathIsAssumed: true,
    scope: "webhooks:read",
    params: deliveryParams,
    status: [200],
    result: webhookDelivery,
    retry: "safe",
    errors: readErrors,
    doc: "Reads one attempt to deliver to the endpoint.",
    example: { params: { id, deliveryId }, result: exampleRow },
  },
  /** Delivers an earlier failed delivery again; the endpoint must be on. */
  replay: {
    method: "POST",
    path: "/webhooks/{id}/deliveries/{deliveryId}/replay",
    pathIsAssumed: true,
    scope: "webhooks:write",
    params: deliveryParams,
    status: [200],
    result: webhookReplay,
    retry: "never",
    errors: [...readErrors, "invalid_parameter"],
    doc: "Delivers an earlier failed delivery again; the endpoint must be on.",
    example: { params: { id, deliveryId }, result: { object: "webhook_replay", id, delivery: exampleAttempt } },
  },
  /** Lists the attempts to deliver to any endpoint of the workspace. */
  allDeliveries: {
    method: "GET",
    path: "/webhooks/deliveries",
    pathIsAssumed: true,
    scope: "webhooks:read",
    query: deliveriesQuery,
    status: [200],
    result: pageOf(webhookDelivery),
    paged: true,
    retry: "safe",
    errors: pageErrors,
    issueCodes: { cursor: "invalid_cursor" },
    doc: "Lists the attempts to deliver to any endpoint of the workspace.",
    example: { query: exampleFilters, result: examplePage },
  },
  /** Lists who changed which endpoint, and when, newest first. */
  activity: {
    method: "GET",
    path: "/webhooks/activity",
    pathIsAssumed: true,
    scope: "webhooks:read",
    query: z.strictObject({ ...timeRange, ...pageQuery() }),
    status: [200],
    result: pageOf(webhookActivity),
    paged: true,
    retry: "safe",
    errors: pageErrors,
    issueCodes: { cursor: "invalid_cursor" },
    doc: "Lists who changed which endpoint, and when, newest first.",
    example: {
      query: { since: "2026-01-30T00:00:00Z" },
      result: {
        object: "list",
        data: [
          {
            id: "65b8f0a2c4d6e8f0089abcde",
            endpointId: id,
            kind: "disabled",
            actor: null,
            createdAt: "2026-01-31T09:30:00Z",
          },
        ],
        hasMore: false,
        nextCursor: null,
      },
    },
  },
  /** Lists the event types that an endpoint can name. */
  eventTypes: {
    method: "GET",
    path: "/webhooks/events",
    pathIsAssumed: true,
    scope: "webhooks:read",
    status: [200],
    result: listOf(webhookEventType),
    retry: "safe",
    errors: ["insufficient_scope"],
    doc: "Lists the event types that an endpoint can name.",
    example: {
      result: {
        object: "list",
        data: [
          { type: "email.received", default: true },
          { type: "file.uploaded", default: false },
        ],
      },
    },
  },
  /** Counts the endpoints and deliveries of the workspace. */
  stats: {
    method: "GET",
    path: "/webhooks/stats",
    pathIsAssumed: true,
    scope: "webhooks:read",
    status: [200],
    result: webhookStats,
    retry: "safe",
    errors: ["insufficient_scope"],
    doc: "Counts the endpoints and deliveries of the workspace.",
    example: { result: { object: "webhook_stats", endpoints: 2, enabled: 1, delivered: 90, failed: 3 } },
  },
} as const satisfies Resource;
