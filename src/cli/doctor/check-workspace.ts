import { DAY } from "../../base/duration.js";
import { errorMessage } from "../../base/error-text.js";
import { escapeControls } from "../../base/text.js";
import type { Client } from "../../client/call-types.js";
import { AuthenticationError, PermissionError } from "../../client/errors.js";
import type { Scope } from "../../contract/scopes.js";
import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import { LIMITS } from "../../protocol/limits.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";
import { countOf } from "../frame/format.js";
import { attemptHint } from "../values/attempt-hint.js";

/** What looks at the workspace. */
export interface WorkspaceCaller {
  client: Client;
  /** The client's key. */
  apiKey: string;
  signal: AbortSignal;
}

/** Looks at the workspace through the API, with the scope that a key needs for it. */
const LOOKS: readonly {
  name: string;
  scope: Scope;
  look: (workspace: WorkspaceCaller) => AsyncGenerator<CheckResult>;
}[] = [
  { name: "key", scope: "keys:read", look: lookAtKey },
  { name: "endpoint", scope: "webhooks:read", look: lookAtEndpoints },
];

/** Looks at what the API key may see of the workspace. What it may not see is said in one line. */
export async function* checkWorkspace(caller: WorkspaceCaller): AsyncGenerator<CheckResult> {
  for (const { name, scope, look } of LOOKS) {
    const { skip, warn } = checksNamed(name);
    try {
      yield* look(caller);
    } catch (error) {
      caller.signal.throwIfAborted();
      const useless = judgeKeyError(error);
      // Every other look would end in the same way.
      if (useless !== undefined) return void (yield useless);
      // The service refuses alike where the key lacks the scope, and where its role does.
      yield error instanceof PermissionError
        ? skip(
            `Not looked at: the API key, or its role, lacks the scope ${scope}.`,
            `Add ${scope} to the key, and to its role if it has one.`,
          )
        : warn(`Not looked at: ${escapeControls(errorMessage(error))}`, "Look at PIGEONHOLE_BASE_URL, and try again.");
    }
  }
}

/** The result for a key that no call takes; undefined when the error is about something else. */
function judgeKeyError(error: unknown): CheckResult | undefined {
  const { fail } = checksNamed("key");
  if (error instanceof AuthenticationError) {
    const message = "The service does not take the API key: it is wrong, revoked or expired.";
    return fail(message, "Set PIGEONHOLE_API_KEY to another.");
  }
  if (error instanceof PermissionError && error.code === "inactive_api_key") {
    return fail("The API key is switched off.", "Switch it on in the app, or set PIGEONHOLE_API_KEY to another.");
  }
  return undefined;
}

/** Time enough to make another key, and to give it to the app. */
const SOON_MS = 14 * DAY;

/** What this package cannot do without a scope. */
const NEEDED: readonly (readonly [scope: Scope, without: string])[] = [
  ["contacts:write", "contact events are not sent"],
  ["webhooks:read", "endpoints cannot be looked at"],
  ["webhooks:write", "endpoints repair replays nothing"],
];

/** Finds a key that expires soon, or whose scopes are too narrow for this package. */
async function* lookAtKey({ client, apiKey, signal }: WorkspaceCaller): AsyncGenerator<CheckResult> {
  const { pass, skip, warn } = checksNamed("key");
  // The 24 hex characters after the prefix. See docs/service.md#identifiers.
  const id = /^svc_live_([0-9a-f]{24})/.exec(apiKey)?.[1];
  if (id === undefined) {
    yield skip("Not looked at: the API key has another shape, so its id is not known.");
    return;
  }
  const { scopes, expiresAt, roleId, roleName } = await client.keys.get(id, { signal });
  const lacking = NEEDED.filter(([scope]) => !scopes.includes(scope));
  const days = Math.floor((Date.parse(expiresAt ?? "") - Date.now()) / DAY);
  // NaN without an expiry.
  const isSoon = days * DAY < SOON_MS;
  if (lacking.length > 0) {
    const list = lacking.map(([scope, without]) => `${scope} (${without})`).join(", ");
    yield warn(`The API key lacks ${list}.`, "Add the scopes that the app needs to the key.");
  }
  if (isSoon) {
    const left = days < 1 ? "within a day" : `in ${countOf(days, "day")}`;
    const fix = "Make another key before, and give it to the app; a rotation keeps the expiry.";
    yield warn(`The API key expires ${left} (${escapeControls(expiresAt ?? "")}).`, fix);
  }
  if (lacking.length > 0 || isSoon) return;
  const has = "The API key has the scopes that this package uses";
  yield roleId === null
    ? pass(`${has}.`)
    : skip(`${has}; its role ${escapeControls(roleName ?? roleId)} may allow less, and was not looked at.`);
}

/** Rows of each endpoint's log that are read. */
const MAX_ROWS = 100;

/**
 * Finds endpoints that are off, and failed attempts of the last day in the log of each. The log of a deleted endpoint
 * is gone: docs/service.md#endpoint-operations.
 */
async function* lookAtEndpoints({ client, signal }: WorkspaceCaller): AsyncGenerator<CheckResult> {
  const since = new Date(Date.now() - DAY).toISOString();
  const ids: string[] = [];
  for await (const endpoint of client.webhooks.list({ limit: 100 }, { signal })) {
    ids.push(endpoint.id);
    yield judgeEndpoint(endpoint);
  }
  for (const id of ids) {
    const query = { status: "failed", since, limit: MAX_ROWS } as const;
    const { items, hasMore } = await client.webhooks.deliveries(id, query, { signal });
    // The newest attempt is the first.
    const [last] = items;
    if (last === undefined) continue;
    const name = escapeControls(id);
    const answer = last.responseCode === null ? "had no answer" : `was answered ${last.responseCode}`;
    yield checksNamed("deliveries").warn(
      `${hasMore ? "at least " : ""}${countOf(items.length, "attempt")} of the last day failed at ${name}; the last one ${answer}.`,
      `${attemptHint(last)} List them with npx pigeonhole api webhooks.deliveries ${name} --query status=failed.`,
    );
  }
  if (ids.length === 0) yield checksNamed("endpoint").skip("The workspace has no webhook endpoints.");
}

function judgeEndpoint({ id, enabled, disabledReason, consecutiveFailures }: WebhookEndpoint): CheckResult {
  const { fail, pass, warn } = checksNamed("endpoint");
  const name = escapeControls(id);
  const repair = `npx pigeonhole endpoints repair ${name} --since <begin of the outage>`;
  if (!enabled && disabledReason === null) {
    return warn(`${name} is off; its owner switched it off.`, `To switch it on: ${repair} --enable`);
  }
  if (!enabled) {
    const reason = escapeControls(disabledReason ?? "");
    return fail(`${name} is off: ${reason}`, `Once the app answers again: ${repair} --enable`);
  }
  if (consecutiveFailures === 0) return pass(`${name} is on, and its last delivery did not fail.`);
  return warn(
    `${name} has ${countOf(consecutiveFailures, "failed attempt")} in a row; at ${LIMITS.disableAfterFailures} the service switches it off.`,
    `Once the app answers again: ${repair}`,
  );
}
