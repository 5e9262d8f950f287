import { DAY } from "../../base/duration.js";
import { escapeControls } from "../../base/text.js";
import type { Client } from "../../client/call-types.js";
import { ApiError, AuthenticationError, PermissionError } from "../../client/errors.js";
import type { WebhookDelivery } from "../../contract/webhook-endpoint.js";
import { type CheckResult, pass, warn } from "../frame/check-result.js";
import { countOf } from "../frame/format.js";
import { attemptHint } from "../values/attempt-hint.js";
import type { EndpointList } from "./endpoint-list.js";
import type { WorkspaceLook } from "./workspace-look.js";

const NAME = "deliveries";
/** Rows of each endpoint's log that are read. */
const MAX_ROWS = 100;
/** Rows of the log of all endpoints that are read, to find endpoints that are gone. */
const MAX_ROWS_OF_ALL = 1_000;

/**
 * Finds failed attempts of the last day in the delivery log of each endpoint, and of those that were deleted since: one
 * line for each endpoint. A log that cannot be read does not end the look at the others.
 */
export const checkDeliveries = (list: EndpointList): WorkspaceLook => ({
  name: NAME,
  scope: "webhooks:read",
  async look(client, signal) {
    const since = new Date(Date.now() - DAY).toISOString();
    const ids = (await list(client, signal)).map(({ id }) => id);
    const results: CheckResult[] = [];
    for (const id of ids) results.push(...(await orWarn(`of ${id}`, () => lookAtOne(client, { id, since, signal }))));
    results.push(...(await orWarn("of deleted endpoints", () => lookAtDeleted(client, { ids, since, signal }))));
    return results.length > 0 ? results : [pass(NAME, "No attempt of the last day failed.")];
  },
});

interface FailedSince {
  since: string;
  signal: AbortSignal;
}

async function lookAtOne(
  { webhooks }: Client,
  { id, since, signal }: FailedSince & { id: string },
): Promise<CheckResult[]> {
  const { items, hasMore } = await webhooks.deliveries(id, { status: "failed", since, limit: MAX_ROWS }, { signal });
  return items.length === 0 ? [] : [judge(id, items, hasMore)];
}

/** Attempts at endpoints that are not among the listed ones. */
async function lookAtDeleted(
  { webhooks }: Client,
  { ids, since, signal }: FailedSince & { ids: readonly string[] },
): Promise<CheckResult[]> {
  const failed = new Map<string, number>();
  let rows = 0;
  for await (const { endpointId } of webhooks.allDeliveries({ status: "failed", since, limit: MAX_ROWS }, { signal })) {
    if (typeof endpointId === "string" && !ids.includes(endpointId)) {
      failed.set(endpointId, (failed.get(endpointId) ?? 0) + 1);
    }
    rows += 1;
    if (rows === MAX_ROWS_OF_ALL) break;
  }
  const atLeast = rows === MAX_ROWS_OF_ALL ? "at least " : "";
  return [...failed].map(([id, count]) =>
    warn(
      NAME,
      `${atLeast}${countOf(count, "attempt")} of the last day failed at ${escapeControls(id)}, which was deleted since.`,
      "The service sends these events no more. Take what is missing from the service's app.",
    ),
  );
}

/** A key that lacks the scope is for the caller to judge: every other call would end in the same way. */
async function orWarn(what: string, look: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof AuthenticationError || error instanceof PermissionError || !(error instanceof ApiError)) {
      throw error;
    }
    const log = `The log ${escapeControls(what)} was not looked at: ${escapeControls(error.message)}`;
    return [warn(NAME, log, "Try again; if it stays so, look at --base-url.")];
  }
}

/** `failed` has the newest attempt first. */
function judge(endpointId: string, failed: readonly WebhookDelivery[], hasMore: boolean): CheckResult {
  const name = escapeControls(endpointId);
  const [last] = failed;
  const { responseCode = null, error = null } = last ?? {};
  const answer = responseCode === null ? "had no answer" : `was answered ${responseCode}`;
  const count = `${hasMore ? "at least " : ""}${countOf(failed.length, "attempt")}`;
  return warn(
    NAME,
    `${count} of the last day failed at ${name}; the last one ${answer}.`,
    `${attemptHint({ responseCode, error })} List them with npx pigeonhole endpoints deliveries ${name} --status failed.`,
  );
}
