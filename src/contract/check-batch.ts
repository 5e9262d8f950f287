import { type ValidationIssue, findIssues } from "./check-input.js";
import { EVENT_LIMITS } from "./event-limits.js";
import { isJsonValue, jsonSize } from "./json-size.js";
import type { Operation } from "./operation.js";

/**
 * What refuses a batch as a whole: its shape. An event that breaks a rule about its values fails alone. See
 * docs/service.md#batches; which rules these are is assumed.
 */
export function findBatchRefusal({ body, issueCodes }: Operation, batch: unknown): ValidationIssue | undefined {
  return body === undefined
    ? undefined
    : findIssues(body, batch, issueCodes).find(({ code }) => code !== "invalid_event");
}

/**
 * The first event whose properties JSON would change, so that the service would accept another event than the one
 * given. Those over the limit are left to the service, which refuses them in any form.
 */
export function findChangedByJson(events: readonly { properties?: unknown }[]): ValidationIssue | undefined {
  const index = events.findIndex(({ properties }) => properties !== undefined && isChangedByJson(properties));
  if (index === -1) return undefined;
  const message = "Must hold plain JSON values: no dates, undefined, NaN or class instances.";
  return { code: "invalid_event", param: `events.${index}.properties`, message };
}

function isChangedByJson(properties: unknown): boolean {
  const bytes = jsonSize(properties);
  return bytes === undefined || (bytes <= EVENT_LIMITS.propertyBytes && !isJsonValue(properties));
}
