import type { z } from "zod";
import { checkCallInput } from "../../contract/check-call-input.js";
import { localWebhookCreateInput, localWebhookUpdateInput } from "../../contract/local-webhook.js";
import {
  type WebhookCreateInput,
  type WebhookUpdateInput,
  webhookCreateInput,
  webhookUpdateInput,
} from "../../contract/webhook-endpoint.js";
import { webhooks } from "../../contract/webhooks.js";
import { isEventType } from "../../protocol/event-types.js";
import { inputRefusal, invalidParameter } from "../api/api-handlers.js";
import { requireOwnAddresses } from "../access/allowlists.js";

/** Rules of a workspace for its endpoints. */
export interface EndpointRules {
  /** Enforces the documented rule for URLs: https and a public host. */
  strictUrls: boolean;
  /** Addresses and domains that the workspace owns, in lower case. */
  owned: { readonly addresses: readonly string[]; readonly domains: readonly string[] };
  /** Event types beyond those that this package knows. */
  newEventTypes: readonly string[];
}

/** Checks a body of creation by every documented rule; throws 422. */
export function checkCreate(input: unknown, rules: EndpointRules): WebhookCreateInput {
  return checkBody<WebhookCreateInput>(rules.strictUrls ? webhookCreateInput : localWebhookCreateInput, input, rules);
}

/** Checks a body of an update in the same way. */
export function checkUpdate(input: unknown, rules: EndpointRules): WebhookUpdateInput {
  return checkBody<WebhookUpdateInput>(rules.strictUrls ? webhookUpdateInput : localWebhookUpdateInput, input, rules);
}

function checkBody<Input extends WebhookUpdateInput>(
  schema: z.ZodType<Input>,
  input: unknown,
  rules: EndpointRules,
): Input {
  const checked = checkCallInput(webhooks.update, schema, input);
  if (!checked.ok) throw inputRefusal(checked.issue);
  checkLists(checked.value, rules);
  return checked.value;
}

/** The rules that depend on the workspace and the event types. */
function checkLists({ eventTypes = [], addressAllowlist }: WebhookUpdateInput, rules: EndpointRules): void {
  const strange = eventTypes.findIndex((type) => !isEventType(type) && !rules.newEventTypes.includes(type));
  if (strange !== -1) throw invalidParameter(`eventTypes.${strange}`, "There is no such event type.");
  requireOwnAddresses(rules.owned, addressAllowlist);
}
