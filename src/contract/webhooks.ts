import { z } from "zod";
import { localWebhookCreateInput, localWebhookUpdateInput } from "./local-webhook.js";
import type { Resource } from "./operation.js";
import { listOf, pageOf, pageQuery } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { openEnum, timestamp } from "./shapes.js";
import {
  webhookActivity,
  webhookCreateInput,
  webhookDelivery,
  webhookEndpoint,
  webhookEndpointWithSecret,
  webhookEventType,
  webhookId,
  webhookReplay,
  webhookStats,
  webhookTest,
  webhookUpdateInput,
} from "./webhook-endpoint.js";

const id = "whe_65b8f0a2c4d6e8f001234567";
const read = {
  path: "/webhooks/{id}",
  scope: "webhooks:read",
  params: z.strictObject({ id: webhookId }),
  example: { params: { id } },
} as const;
const write = { ...read, scope: "webhooks:write" } as const;

const ofDelivery = {
  pathIsAssumed: true,
  params: z.strictObject({
    id: webhookId,
    deliveryId: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, { error: "Must be the id of a row of the delivery log." }),
  }),
  example: { params: { id, deliveryId: "65b8f0a2c4d6e8f0089abcde" } },
} as const;

const timeRange = {
  /** At or after this time. */
  since: timestamp().optional(),
  /** Before this time. */
  until: timestamp().optional(),
};

const ofLog = {
  ...ROW_KINDS.list,
  pathIsAssumed: true,
  scope: "webhooks:read",
  query: z.strictObject({
    /** Only attempts of this status. */
    status: openEnum(["delivered", "failed"]).optional(),
    ...timeRange,
    ...pageQuery(),
  }),
  result: pageOf(webhookDelivery),
} as const;
const filters = { status: "failed", since: "2026-01-30T00:00:00Z" };

/** Webhook endpoints. See docs/service.md#endpoint-operations; scopes and the paths after `test` are assumed. */
export const webhooks = {
  /** Lists the endpoints, newest first, without secrets. */
  list: {
    ...ROW_KINDS.list,
    path: "/webhooks",
    scope: "webhooks:read",
    result: pageOf(webhookEndpoint),
    doc: "Lists the endpoints, newest first, without secrets.",
  },
  /** Reads one endpoint, without its secret. */
  get: { ...ROW_KINDS.read, ...read, result: webhookEndpoint, doc: "Reads one endpoint, without its secret." },
  /** Creates an endpoint; the answer holds its secret, the only time it appears. */
  create: {
    ...ROW_KINDS.create,
    path: "/webhooks",
    scope: "webhooks:write",
    body: webhookCreateInput,
    localBody: localWebhookCreateInput,
    status: [201],
    result: webhookEndpointWithSecret,
    errors: ["invalid_webhook_url", "workspace_limit_reached", "capability_unsupported"],
    issueCodes: { url: "invalid_webhook_url" },
    doc: "Creates an endpoint; the answer holds its secret, the only time it appears.",
    example: {
      body: {
        url: "https://app.example.com/webhooks/mail",
        eventTypes: ["email.received", "email.bounced"],
        description: "Production",
        addressAllowlist: ["support@acme.example.com"],
        domainAllowlist: [],
      },
    },
  },
  /** Changes an endpoint, or switches it on or off; omitted fields stay unchanged. */
  update: {
    ...ROW_KINDS.update,
    ...write,
    body: webhookUpdateInput,
    localBody: localWebhookUpdateInput,
    result: webhookEndpoint,
    errors: ["invalid_webhook_url", "capability_unsupported"],
    issueCodes: { url: "invalid_webhook_url" },
    doc: "Changes an endpoint, or switches it on or off; omitted fields stay unchanged.",
    example: { params: { id }, body: { enabled: true, description: null } },
  },
  /** Deletes an endpoint with its secret and its delivery log. */
  delete: {
    ...ROW_KINDS.delete,
    ...write,
    errors: ["capability_unsupported"],
    doc: "Deletes an endpoint with its secret and its delivery log.",
  },
  /** Sends one signed test event to the endpoint, waits for the attempt and returns its result. */
  test: {
    ...ROW_KINDS.act,
    ...write,
    path: "/webhooks/{id}/test",
    result: webhookTest,
    doc: "Sends one signed test event to the endpoint, waits for the attempt and returns its result.",
  },
  /** Gives the endpoint a new secret; the old one stops working at once. The answer holds the new one. */
  rotateSecret: {
    ...ROW_KINDS.act,
    ...write,
    path: "/webhooks/{id}/rotate-secret",
    pathIsAssumed: true,
    result: webhookEndpointWithSecret,
    errors: ["capability_unsupported"],
    doc: "Gives the endpoint a new secret; the old one stops working at once. The answer holds the new one.",
  },
  /** Lists the attempts to deliver to the endpoint. */
  deliveries: {
    ...ofLog,
    params: read.params,
    path: "/webhooks/{id}/deliveries",
    doc: "Lists the attempts to deliver to the endpoint.",
    example: { params: { id }, query: filters },
  },
  /** Reads one attempt to deliver to the endpoint. */
  delivery: {
    ...ROW_KINDS.read,
    ...ofDelivery,
    path: "/webhooks/{id}/deliveries/{deliveryId}",
    scope: "webhooks:read",
    result: webhookDelivery,
    doc: "Reads one attempt to deliver to the endpoint.",
  },
  /** Delivers an earlier failed delivery again; the endpoint must be on. */
  replay: {
    ...ROW_KINDS.act,
    ...ofDelivery,
    path: "/webhooks/{id}/deliveries/{deliveryId}/replay",
    scope: "webhooks:write",
    result: webhookReplay,
    errors: ["invalid_parameter"],
    doc: "Delivers an earlier failed delivery again; the endpoint must be on.",
  },
  /** Lists the attempts to deliver to any endpoint of the workspace. */
  allDeliveries: {
    ...ofLog,
    path: "/webhooks/deliveries",
    doc: "Lists the attempts to deliver to any endpoint of the workspace.",
    example: { query: filters },
  },
  /** Lists who changed which endpoint, and when, newest first. */
  activity: {
    ...ROW_KINDS.list,
    path: "/webhooks/activity",
    pathIsAssumed: true,
    scope: "webhooks:read",
    query: z.strictObject({ ...timeRange, ...pageQuery() }),
    result: pageOf(webhookActivity),
    doc: "Lists who changed which endpoint, and when, newest first.",
    example: { query: { since: "2026-01-30T00:00:00Z" } },
  },
  /** Lists the event types that an endpoint can name. */
  eventTypes: {
    ...ROW_KINDS.read,
    path: "/webhooks/events",
    pathIsAssumed: true,
    scope: "webhooks:read",
    result: listOf(webhookEventType),
    doc: "Lists the event types that an endpoint can name.",
  },
  /** Counts the endpoints and deliveries of the workspace. */
  stats: {
    ...ROW_KINDS.read,
    path: "/webhooks/stats",
    pathIsAssumed: true,
    scope: "webhooks:read",
    result: webhookStats,
    doc: "Counts the endpoints and deliveries of the workspace.",
  },
} as const satisfies Resource;
