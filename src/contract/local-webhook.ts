import { z } from "zod";
import { webhookCreateInput, webhookUpdateInput } from "./webhook-endpoint.js";

const localUrl = z.string().refine(isHttpUrl, { error: "Must be an http or https URL." });

/** {@link webhookCreateInput} for an emulator whose receivers are on this machine: any http or https URL. */
export const localWebhookCreateInput = webhookCreateInput.extend({ url: localUrl });

/** {@link webhookUpdateInput} for the same emulator. */
export const localWebhookUpdateInput = webhookUpdateInput.extend({ url: localUrl.optional() });

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
