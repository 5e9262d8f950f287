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

/**
 * Finds failed attempts of the last day in the delivery log of each endpoint: one line for each endpoint. A log that
 * cannot be read does not end the look at the others. The log of a deleted endpoint is gone:
 * docs/service.md#endpoint-operations.
 */
export const checkDeliveries = (list: EndpointList): WorkspaceLook => ({
  name: NAME,
  scope: "webhooks:read",
  async look(client, signal) {
    const since = new Date(Date.now() - DAY).toISOString();
    const results: CheckResult[] = [];
    for (const { id } of await list(client, signal)) {
      results.push(...(await orWarn(id, () => lookAtOne(client, { id, since, signal }))));
    }
    return results.length > 0 ? results : [pass(NAME, "No attempt of the last day failed.")];
  },
});

interface FailedSince {
  id: string;
  since: string;
  signal: AbortSignal;
}

async function lookAtOne({ webhooks }: Client, { id, since, signal }: FailedSince): Promise<CheckResult[]> {
  const { items, hasMore } = await webhooks.deliveries(id, { status: "failed", since, limit: MAX_ROWS }, { signal });
  return items.length === 0 ? [] : [judge(id, items, hasMore)];
}

/** A key that lacks the scope is for the caller to judge: every other call would end in the same way. */
async function orWarn(id: string, look: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof AuthenticationError || error instanceof PermissionError || !(error instanceof ApiError)) {
      throw error;
    }
    const log = `The log of ${escapeControls(id)} was not looked at: ${escapeControls(error.message)}`;
    return [warn(NAME, log, "Try again; if it stays so, look at PIGEONHOLE_BASE_URL.")];
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
    `${attemptHint({ responseCode, error })} List them with npx pigeonhole api webhooks.deliveries ${name} --query status=failed.`,
  );
}
