import { escapeControls } from "../../base/text.js";
import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import { LIMITS } from "../../protocol/limits.js";
import { type CheckResult, fail, pass, skip, warn } from "../frame/check-result.js";
import { countOf } from "../frame/format.js";
import type { EndpointList } from "./endpoint-list.js";
import type { WorkspaceLook } from "./workspace-look.js";

const NAME = "endpoint";

/** Finds endpoints of the workspace that are off, or whose last deliveries failed. */
export const checkEndpoints = (list: EndpointList): WorkspaceLook => ({
  name: NAME,
  scope: "webhooks:read",
  async look(client, signal) {
    const results = (await list(client, signal)).map(judge);
    return results.length > 0 ? results : [skip(NAME, "The workspace has no webhook endpoints.")];
  },
});

function judge({ id, enabled, disabledReason, consecutiveFailures }: WebhookEndpoint): CheckResult {
  const name = escapeControls(id);
  const repair = `npx pigeonhole endpoints repair ${name} --since <begin of the outage>`;
  if (!enabled && disabledReason === null) {
    return warn(NAME, `${name} is off; its owner switched it off.`, `To switch it on: ${repair} --enable`);
  }
  if (!enabled) {
    const reason = escapeControls(disabledReason ?? "");
    return fail(NAME, `${name} is off: ${reason}`, `Once the app answers again: ${repair} --enable`);
  }
  if (consecutiveFailures === 0) return pass(NAME, `${name} is on, and its last delivery did not fail.`);
  const failures = countOf(consecutiveFailures, "failed attempt");
  const limit = LIMITS.disableAfterFailures;
  return warn(
    NAME,
    `${name} has ${failures} in a row; at ${limit} the service switches it off.`,
    `Look with npx pigeonhole api webhooks.deliveries ${name} --query status=failed. Once the app answers again: ${repair}`,
  );
}
