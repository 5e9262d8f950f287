import { z } from "zod";
import type { BoundOperation } from "./bind-operations.js";
import type { Operation } from "./operation.js";
import { webhookCreateInput, webhookUpdateInput } from "./webhook-endpoint.js";

const localUrl = z.string().refine(isHttpUrl, { error: "Must be an http or https URL." });

/** {@link webhookCreateInput} for an emulator whose receivers are on this machine: any http or https URL. */
export const localWebhookCreateInput = webhookCreateInput.extend({ url: localUrl });

/** {@link webhookUpdateInput} for the same emulator. */
export const localWebhookUpdateInput = webhookUpdateInput.extend({ url: localUrl.optional() });

/** The rows that take an endpoint's URL, by name. */
const LOCAL_BODIES: Readonly<Record<string, NonNullable<Operation["body"]>>> = {
  "webhooks.create": localWebhookCreateInput,
  "webhooks.update": localWebhookUpdateInput,
};

/** The row as an emulator on this machine takes it: with any http or https URL of an endpoint. */
export function allowLocalUrls(bound: BoundOperation): BoundOperation {
  const body = LOCAL_BODIES[bound.call];
  return body === undefined ? bound : { ...bound, operation: { ...bound.operation, body } };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
