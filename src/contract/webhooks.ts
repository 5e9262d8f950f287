import { z } from "zod";
import { EVENT_TYPES } from "../protocol/event-types.js";
import type { Resource } from "./operation.js";
import { listOf, pageOf, pageQuery } from "./paging.js";
import { createRows } from "./create-rows.js";
import { nullable, openEnum, timestamp } from "./shapes.js";
import {
  localWebhookCreateInput,
  localWebhookUpdateInput,
  testDelivery,
  webhookActivity,
  webhookCreateInput,
  webhookDelivery,
  webhookEndpoint,
  webhookEndpointWithSecret,
  webhookId,
  webhookUpdateInput,
} from "./webhook-endpoint.js";

/** The answer to a replay. ASSUMED; see docs/assumptions.md. */
const webhookReplay = z.looseObject({ id: nullable(z.string()), delivery: nullable(testDelivery) });

/** A type that an endpoint can name. ASSUMED; see docs/assumptions.md. */
const webhookEventType = z.looseObject({
  type: openEnum(EVENT_TYPES),
  /** True for a type of the default set. */
  default: z.boolean(),
});

/** Counts of the whole workspace. ASSUMED; see docs/assumptions.md. */
const webhookStats = z.looseObject({
  endpoints: nullable(z.number()),
  /** Endpoints that are on. */
  enabled: nullable(z.number()),
  /** Rows of all delivery logs. */
  delivered: nullable(z.number()),
  failed: nullable(z.number()),
});

/** The answer to a test. It is 200 even when the receiver failed. */
const webhookTest = z.looseObject({
  object: z.string().default("webhook_test"),
  id: z.string(),
  /** Null if the answer contains no readable row of the log. */
  delivery: nullable(testDelivery),
});

const id = "whe_65b8f0a2c4d6e8f001234567";
const rows = createRows({
  all: "/webhooks",
  scopes: ["webhooks:read", "webhooks:write"],
  one: { path: "/webhooks/{id}", params: z.strictObject({ id: webhookId }), example: { id } },
});
const assumed = { pathIsAssumed: true } as const;
const urlCodes = { issueCodes: { url: "invalid_webhook_url" } } as const;

const ofDelivery = {
  ...assumed,
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
  ...assumed,
  query: z.strictObject({
    /** Only attempts of this status. */
    status: openEnum(["delivered", "failed"]).optional(),
    ...timeRange,
    ...pageQuery(),
  }),
  example: { query: { status: "failed", since: "2026-01-30T00:00:00Z" } },
} as const;

/** Webhook endpoints. See docs/service.md#endpoint-operations; scopes and the paths after `test` are assumed. */
export const webhooks = {
  /** Lists the endpoints, newest first, without secrets. */
  list: rows.list(pageOf(webhookEndpoint), { doc: "Lists the endpoints, newest first, without secrets." }),
  /** Reads one endpoint, without its secret. */
  get: rows.get(webhookEndpoint, { doc: "Reads one endpoint, without its secret." }),
  /** Creates an endpoint; the answer holds its secret, the only time it appears. */
  create: rows.create(webhookEndpointWithSecret, {
    doc: "Creates an endpoint; the answer holds its secret, the only time it appears.",
    body: webhookCreateInput,
    localBody: localWebhookCreateInput,
    status: [201],
    errors: ["invalid_webhook_url", "workspace_limit_reached", "capability_unsupported"],
    ...urlCodes,
    example: {
      body: {
        url: "https://app.example.com/webhooks/mail",
        eventTypes: ["email.received", "email.bounced"],
        description: "Production",
        addressAllowlist: ["support@acme.example.com"],
        domainAllowlist: [],
      },
    },
  }),
  /** Changes an endpoint, or switches it on or off; omitted fields stay unchanged. */
  update: rows.update(webhookEndpoint, {
    doc: "Changes an endpoint, or switches it on or off; omitted fields stay unchanged.",
    body: webhookUpdateInput,
    localBody: localWebhookUpdateInput,
    errors: ["invalid_webhook_url", "capability_unsupported"],
    ...urlCodes,
    example: { body: { enabled: true, description: null } },
  }),
  /** Deletes an endpoint with its secret and its delivery log. */
  delete: rows.delete({
    doc: "Deletes an endpoint with its secret and its delivery log.",
    errors: ["capability_unsupported"],
  }),
  /** Sends one signed test event to the endpoint, waits for the attempt and returns its result. */
  test: rows.act("/webhooks/{id}/test", webhookTest, {
    doc: "Sends one signed test event to the endpoint, waits for the attempt and returns its result.",
  }),
  /** Gives the endpoint a new secret; the old one stops working at once. The answer holds the new one. */
  rotateSecret: rows.act("/webhooks/{id}/rotate-secret", webhookEndpointWithSecret, {
    doc: "Gives the endpoint a new secret; the old one stops working at once. The answer holds the new one.",
    pathIsAssumed: true,
    errors: ["capability_unsupported"],
  }),
  /** Lists the attempts to deliver to the endpoint. */
  deliveries: rows.list(pageOf(webhookDelivery), {
    doc: "Lists the attempts to deliver to the endpoint.",
    ...ofLog,
    path: "/webhooks/{id}/deliveries",
  }),
  /** Reads one attempt to deliver to the endpoint. */
  delivery: rows.read("/webhooks/{id}/deliveries/{deliveryId}", webhookDelivery, {
    doc: "Reads one attempt to deliver to the endpoint.",
    ...ofDelivery,
  }),
  /** Delivers an earlier failed delivery again; the endpoint must be on. */
  replay: rows.act("/webhooks/{id}/deliveries/{deliveryId}/replay", webhookReplay, {
    doc: "Delivers an earlier failed delivery again; the endpoint must be on.",
    ...ofDelivery,
    errors: ["invalid_parameter"],
  }),
  /** Lists the attempts to deliver to any endpoint of the workspace. */
  allDeliveries: rows.list(pageOf(webhookDelivery), {
    doc: "Lists the attempts to deliver to any endpoint of the workspace.",
    ...ofLog,
    path: "/webhooks/deliveries",
  }),
  /** Lists who changed which endpoint, and when, newest first. */
  activity: rows.list(pageOf(webhookActivity), {
    doc: "Lists who changed which endpoint, and when, newest first.",
    path: "/webhooks/activity",
    pathIsAssumed: true,
    query: z.strictObject({ ...timeRange, ...pageQuery() }),
    example: { query: { since: "2026-01-30T00:00:00Z" } },
  }),
  /** Lists the event types that an endpoint can name. */
  eventTypes: rows.read("/webhooks/events", listOf(webhookEventType), {
    doc: "Lists the event types that an endpoint can name.",
    ...assumed,
  }),
  /** Counts the endpoints and deliveries of the workspace. */
  stats: rows.read("/webhooks/stats", webhookStats, {
    doc: "Counts the endpoints and deliveries of the workspace.",
    ...assumed,
  }),
} as const satisfies Resource;
