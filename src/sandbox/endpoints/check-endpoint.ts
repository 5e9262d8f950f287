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
import { type SandboxApiError, inputRefusal } from "../api/api-handlers.js";
import { type Allowlists, ownsSingleAddress } from "../access/allowlists.js";

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
  const schema = rules.strictUrls ? webhookCreateInput : localWebhookCreateInput;
  const checked = checkCallInput(webhooks.create, schema, input);
  if (!checked.ok) throw inputRefusal(checked.issue);
  checkLists(checked.value, rules);
  return checked.value;
}

/** Checks a body of an update in the same way. */
export function checkUpdate(input: unknown, rules: EndpointRules): WebhookUpdateInput {
  const schema = rules.strictUrls ? webhookUpdateInput : localWebhookUpdateInput;
  const checked = checkCallInput(webhooks.update, schema, input);
  if (!checked.ok) throw inputRefusal(checked.issue);
  checkLists(checked.value, rules);
  return checked.value;
}

/** The rules that depend on the workspace and the event types. */
function checkLists(
  {
    eventTypes = [],
    addressAllowlist = [],
  }: { eventTypes?: readonly string[] | undefined } & {
    [Field in keyof Allowlists]?: readonly string[] | undefined;
  },
  rules: EndpointRules,
): void {
  const strange = eventTypes.findIndex((type) => !isEventType(type) && !rules.newEventTypes.includes(type));
  if (strange !== -1) throw invalidParameter(`eventTypes.${strange}`, "There is no such event type.");
  const foreign = addressAllowlist.findIndex((address) => !ownsSingleAddress(rules.owned, address));
  if (foreign !== -1) throw invalidParameter(`addressAllowlist.${foreign}`, "Must be an address of the workspace.");
}

/** Throws 422 unless the value is left out or one of these. A client lets values pass that are newer than itself. */
export function requireOneOf(param: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return;
  throw invalidParameter(param, `Must be one of ${choices.join(", ")}.`);
}

/** 422 `invalid_parameter`. */
export function invalidParameter(param: string, message: string): SandboxApiError {
  return inputRefusal({ code: "invalid_parameter", param, message });
}
