import { DAY } from "../../base/duration.js";
import { escapeControls } from "../../base/text.js";
import type { WebhookDelivery } from "../../contract/webhook-endpoint.js";
import { type CheckResult, pass, warn } from "../frame/check-result.js";
import { countOf } from "../frame/format.js";
import { attemptHint } from "../values/attempt-hint.js";
import type { WorkspaceLook } from "./workspace-look.js";

const NAME = "deliveries";
/** Rows of the log that are read. */
const MAX_ROWS = 100;

/** Finds failed attempts of the last day in the delivery logs of all endpoints: one line for each endpoint. */
export const checkDeliveries: WorkspaceLook = {
  name: NAME,
  scope: "webhooks:read",
  async look({ webhooks }, signal) {
    const since = new Date(Date.now() - DAY).toISOString();
    const query = { status: "failed", since, limit: MAX_ROWS };
    const { items, hasMore } = await webhooks.allDeliveries(query, { signal });
    if (items.length === 0) return [pass(NAME, "No attempt of the last day failed.")];
    const endpointIds = new Set(items.map(({ endpointId }) => endpointId ?? ""));
    return [...endpointIds].map((id) =>
      judge(
        id,
        items.filter(({ endpointId }) => (endpointId ?? "") === id),
        hasMore,
      ),
    );
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
    `${count} of the last day failed${name === "" ? "" : ` at ${name}`}; the last one ${answer}.`,
    `${attemptHint({ responseCode, error })} List them with npx pigeonhole endpoints deliveries ${name || "<id>"} --status failed.`,
  );
}
