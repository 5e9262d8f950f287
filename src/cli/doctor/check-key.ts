import { DAY } from "../../base/duration.js";
import { escapeControls } from "../../base/text.js";
import type { Client } from "../../client/call-types.js";
import { ApiError, PermissionError } from "../../client/errors.js";
import type { ApiKey } from "../../contract/keys.js";
import type { Scope } from "../../contract/scopes.js";
import { type CheckResult, pass, skip, warn } from "../frame/check-result.js";
import type { WorkspaceLook } from "./workspace-look.js";

const NAME = "key";
/** Time enough to make another key, and to give it to the app. */
const SOON_MS = 14 * DAY;

/** What this package cannot do without a scope. */
const NEEDED: readonly (readonly [scope: Scope, without: string])[] = [
  ["contacts:write", "contact events are not sent"],
  ["webhooks:read", "endpoints cannot be looked at"],
  ["webhooks:write", "endpoints repair replays nothing"],
];

/** Finds a key that expires soon, or whose scopes are too narrow for this package. `token`: the whole key. */
export function checkKey(token: string): WorkspaceLook {
  return {
    name: NAME,
    scope: "keys:read",
    unseen: " Whether contact events can be sent (contacts:write) is not known.",
    async look(client, signal) {
      const id = idOf(token);
      if (id === undefined)
        return [skip(NAME, "Not looked at: the API key has another shape, so its id is not known.")];
      const key = await client.keys.get(id, { signal });
      const findings = [
        ...judgeScopes(key, await findRoleScopes(client, key, signal)),
        ...judgeExpiry(key, Date.now()),
      ];
      return findings.length > 0 ? findings : [pass(NAME, "The API key has the scopes that this package uses.")];
    },
  };
}

/** The 24 hex characters after the prefix. See docs/service.md#identifiers. */
function idOf(token: string): string | undefined {
  return /^svc_live_([0-9a-f]{24})/.exec(token)?.[1];
}

/** What the key's role allows; undefined without a role; `unknown` when the key may not read it. */
async function findRoleScopes(
  { roles }: Client,
  { roleId }: ApiKey,
  signal: AbortSignal,
): Promise<readonly string[] | "unknown" | undefined> {
  if (roleId === null) return undefined;
  try {
    return (await roles.get(roleId, { signal })).permissions;
  } catch (error) {
    if (error instanceof PermissionError || (error instanceof ApiError && error.status === 404)) return "unknown";
    throw error;
  }
}

function judgeScopes({ scopes, roleName }: ApiKey, role: readonly string[] | "unknown" | undefined): CheckResult[] {
  const ofRole = role === "unknown" ? undefined : role;
  const roleText = escapeControls(roleName ?? "");
  const lacking = NEEDED.filter(([scope]) => !scopes.includes(scope) || ofRole?.includes(scope) === false);
  const findings: CheckResult[] = [];
  if (lacking.length > 0) {
    const list = lacking.map(([scope, without]) => `${scope} (${without})`).join(", ");
    const cap = role === undefined ? "" : `, and to its role ${roleText}`;
    findings.push(warn(NAME, `The API key lacks ${list}.`, `Add the scopes that the app needs to the key${cap}.`));
  }
  if (role === "unknown") {
    const fix = "Add the scope roles:read to the key and to its role, and look again.";
    findings.push(warn(NAME, `What the API key may do is not known: its role ${roleText} cannot be read.`, fix));
  }
  return findings;
}

function judgeExpiry({ expiresAt }: ApiKey, nowMs: number): CheckResult[] {
  const leftMs = Date.parse(expiresAt ?? "") - nowMs;
  // NaN without an expiry.
  if (!(leftMs < SOON_MS)) return [];
  const days = Math.max(0, Math.floor(leftMs / DAY));
  const left = days === 0 ? "within a day" : `in ${days} ${days === 1 ? "day" : "days"}`;
  const fix = "Make another key before, and give it to the app; a rotation keeps the expiry.";
  return [warn(NAME, `The API key expires ${left} (${escapeControls(expiresAt ?? "")}).`, fix)];
}
