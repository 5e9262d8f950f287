import { DAY } from "../../base/duration.js";
import { escapeControls } from "../../base/text.js";
import type { WebhookDelivery } from "../../contract/webhook-endpoint.js";
import { type CheckResult, pass, warn } from "../frame/check-result.js";
import { countOf } from "../frame/format.js";
import { attemptHint } from "../values/attempt-hint.js";
import type { WorkspaceLook } from "./workspace-look.js";

const NAME = "deliveries";
/** Rows of each endpoint's log that are read. */
const MAX_ROWS = 100;

/** Finds failed attempts of the last day in the delivery log of each endpoint: one line for each endpoint. */
export const checkDeliveries: WorkspaceLook = {
  name: NAME,
  scope: "webhooks:read",
  async look({ webhooks }, signal) {
    const since = new Date(Date.now() - DAY).toISOString();
    const query = { status: "failed", since, limit: MAX_ROWS };
    const results: CheckResult[] = [];
    for await (const { id } of webhooks.list({ limit: 100 }, { signal })) {
      const { items, hasMore } = await webhooks.deliveries(id, query, { signal });
      if (items.length > 0) results.push(judge(id, items, hasMore));
    }
    return results.length > 0 ? results : [pass(NAME, "No attempt of the last day failed.")];
  },
};

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
