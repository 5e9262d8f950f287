import { DAY } from "../../base/duration.js";
import { errorMessage } from "../../base/error-text.js";
import { escapeControls } from "../../base/text.js";
import type { Client } from "../../client/call-types.js";
import { ApiError, AuthenticationError, PermissionError } from "../../client/errors.js";
import type { ApiKey } from "../../contract/keys.js";
import type { Scope } from "../../contract/scopes.js";
import type { SendingLane } from "../../contract/sending.js";
import type { WebhookDelivery, WebhookEndpoint } from "../../contract/webhook-endpoint.js";
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

interface LookInput extends WorkspaceCaller {
  /** Asks the service once, however often it is called. */
  listEndpoints: () => Promise<readonly WebhookEndpoint[]>;
}

/** One look at the workspace through the API. */
interface WorkspaceLook {
  /** Name of its results. */
  name: string;
  /** The scope that a key needs for it. */
  scope: Scope;
  /** What else is not known without it: a sentence after a space. */
  unseen?: string;
  look: (workspace: LookInput) => Promise<CheckResult[]>;
}

const LOOKS: readonly WorkspaceLook[] = [
  {
    name: "key",
    scope: "keys:read",
    unseen: " Whether contact events can be sent (contacts:write) is not known.",
    look: lookAtKey,
  },
  { name: "endpoint", scope: "webhooks:read", look: lookAtEndpoints },
  { name: "deliveries", scope: "webhooks:read", look: lookAtDeliveries },
  { name: "lane", scope: "emails:read", look: lookAtLane },
];

/** Looks at what the API key may see of the workspace. What it may not see is said in one line. */
export async function* checkWorkspace(caller: WorkspaceCaller): AsyncGenerator<CheckResult> {
  let listed: Promise<readonly WebhookEndpoint[]> | undefined;
  const workspace: LookInput = { ...caller, listEndpoints: () => (listed ??= listAll(caller)) };
  for (const { name, scope, unseen = "", look } of LOOKS) {
    const { skip, warn } = checksNamed(name);
    try {
      yield* await look(workspace);
    } catch (error) {
      caller.signal.throwIfAborted();
      const useless = judgeKeyError(error);
      // Every other look would end in the same way.
      if (useless !== undefined) return void (yield useless);
      // The service refuses alike where the key lacks the scope, and where its role does.
      yield error instanceof PermissionError
        ? skip(
            `Not looked at: the API key, or its role, lacks the scope ${scope}.${unseen}`,
            `Add ${scope} to the key, and to its role if it has one.`,
          )
        : warn(`Not looked at: ${escapeControls(errorMessage(error))}`, TRY_AGAIN);
    }
  }
}

const TRY_AGAIN = "Try again; if it stays so, look at PIGEONHOLE_BASE_URL.";

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
async function lookAtKey({ client, apiKey, signal }: LookInput): Promise<CheckResult[]> {
  const { pass, skip, warn } = checksNamed("key");
  // The 24 hex characters after the prefix. See docs/service.md#identifiers.
  const id = /^svc_live_([0-9a-f]{24})/.exec(apiKey)?.[1];
  if (id === undefined) return [skip("Not looked at: the API key has another shape, so its id is not known.")];
  const key = await client.keys.get(id, { signal });
  const role = await findRoleScopes(client, key, signal);
  const name = escapeControls(key.roleName ?? "");
  const findings: CheckResult[] = [];
  const lacking = NEEDED.filter(
    ([scope]) => !key.scopes.includes(scope) || (Array.isArray(role) && !role.includes(scope)),
  );
  if (lacking.length > 0) {
    const list = lacking.map(([scope, without]) => `${scope} (${without})`).join(", ");
    const cap = role === undefined ? "" : `, and to its role ${name}`;
    findings.push(warn(`The API key lacks ${list}.`, `Add the scopes that the app needs to the key${cap}.`));
  }
  if (role === "unknown") {
    const fix = "Add the scope roles:read to the key and to its role, and look again.";
    findings.push(warn(`What the API key may do is not known: its role ${name} cannot be read.`, fix));
  }
  const leftMs = Date.parse(key.expiresAt ?? "") - Date.now();
  // NaN without an expiry.
  if (leftMs < SOON_MS) {
    const days = Math.max(0, Math.floor(leftMs / DAY));
    const left = days === 0 ? "within a day" : `in ${countOf(days, "day")}`;
    const fix = "Make another key before, and give it to the app; a rotation keeps the expiry.";
    findings.push(warn(`The API key expires ${left} (${escapeControls(key.expiresAt ?? "")}).`, fix));
  }
  return findings.length > 0 ? findings : [pass("The API key has the scopes that this package uses.")];
}

/** What the key's role allows; undefined without a role; `unknown` when the key may not read it. */
async function findRoleScopes(
  { roles }: Client,
  { roleId }: ApiKey,
  signal: AbortSignal,
): Promise<string[] | "unknown" | undefined> {
  if (roleId === null) return undefined;
  try {
    return [...(await roles.get(roleId, { signal })).permissions];
  } catch (error) {
    if (error instanceof PermissionError || (error instanceof ApiError && error.status === 404)) return "unknown";
    throw error;
  }
}

async function listAll({ client, signal }: WorkspaceCaller): Promise<readonly WebhookEndpoint[]> {
  const endpoints: WebhookEndpoint[] = [];
  for await (const endpoint of client.webhooks.list({ limit: 100 }, { signal })) endpoints.push(endpoint);
  return endpoints;
}

/** Finds endpoints of the workspace that are off, or whose last deliveries failed. */
async function lookAtEndpoints({ listEndpoints }: LookInput): Promise<CheckResult[]> {
  const endpoints = await listEndpoints();
  if (endpoints.length > 0) return endpoints.map(judgeEndpoint);
  return [checksNamed("endpoint").skip("The workspace has no webhook endpoints.")];
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
    `Look with npx pigeonhole api webhooks.deliveries ${name} --query status=failed. Once the app answers again: ${repair}`,
  );
}

/** Rows of each endpoint's log that are read. */
const MAX_ROWS = 100;

/**
 * Finds failed attempts of the last day in the delivery log of each endpoint: one line for each endpoint. A log that
 * cannot be read does not end the look at the others. The log of a deleted endpoint is gone:
 * docs/service.md#endpoint-operations.
 */
async function lookAtDeliveries({ client, signal, listEndpoints }: LookInput): Promise<CheckResult[]> {
  const { pass, warn } = checksNamed("deliveries");
  const since = new Date(Date.now() - DAY).toISOString();
  const results: CheckResult[] = [];
  for (const { id } of await listEndpoints()) {
    try {
      const query = { status: "failed", since, limit: MAX_ROWS } as const;
      const { items, hasMore } = await client.webhooks.deliveries(id, query, { signal });
      if (items.length > 0) results.push(judgeDeliveries(id, items, hasMore));
    } catch (error) {
      // For the caller to judge: every other call would end in the same way.
      if (error instanceof AuthenticationError || error instanceof PermissionError || !(error instanceof ApiError)) {
        throw error;
      }
      const log = `The log of ${escapeControls(id)} was not looked at: ${escapeControls(error.message)}`;
      results.push(warn(log, TRY_AGAIN));
    }
  }
  return results.length > 0 ? results : [pass("No attempt of the last day failed.")];
}

/** `failed` has the newest attempt first. */
function judgeDeliveries(endpointId: string, failed: readonly WebhookDelivery[], hasMore: boolean): CheckResult {
  const name = escapeControls(endpointId);
  const { responseCode = null, error = null } = failed[0] ?? {};
  const answer = responseCode === null ? "had no answer" : `was answered ${responseCode}`;
  const count = `${hasMore ? "at least " : ""}${countOf(failed.length, "attempt")}`;
  return checksNamed("deliveries").warn(
    `${count} of the last day failed at ${name}; the last one ${answer}.`,
    `${attemptHint({ responseCode, error })} List them with npx pigeonhole api webhooks.deliveries ${name} --query status=failed.`,
  );
}

/** Finds a broadcast lane that has paused itself, so that broadcasts wait. */
async function lookAtLane({ client, signal }: LookInput): Promise<CheckResult[]> {
  const { pass, skip, warn } = checksNamed("lane");
  const lane = (await client.sending.streams({ signal })).find(({ stream }) => stream === "broadcast");
  if (lane === undefined) return [skip("The service named no broadcast lane.")];
  const { status, pausedAt, pausedReason, window } = lane;
  if (status !== "paused") return [pass(`The broadcast lane is active${figuresOf(window)}.`)];
  const since = pausedAt === null ? "" : ` since ${escapeControls(pausedAt)}`;
  const reason = pausedReason === null ? "" : ` (${escapeControls(pausedReason)})`;
  return [
    warn(
      `The broadcast lane is paused${since}${reason}${figuresOf(window)}; broadcasts wait.`,
      "Remove the addresses that bounced or complained, and then resume it: npx pigeonhole api sending.resume broadcast",
    ),
  ];
}

function figuresOf(window: SendingLane["window"]): string {
  if (window === null) return "";
  const { recipients, bounced, complained } = window;
  return `: of ${recipients} recipients of 7 days, ${bounced} bounced and ${complained} complained`;
}
