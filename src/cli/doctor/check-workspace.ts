import { errorMessage } from "../../base/error-text.js";
import { escapeControls } from "../../base/text.js";
import type { Client } from "../../client/call-types.js";
import { AuthenticationError, PermissionError } from "../../client/errors.js";
import { type CheckResult, fail, skip, warn } from "../frame/check-result.js";
import { checkDeliveries } from "./check-deliveries.js";
import { checkEndpoints } from "./check-endpoints.js";
import { checkKey } from "./check-key.js";
import { checkLane } from "./check-lane.js";
import { createEndpointList } from "./endpoint-list.js";
import type { WorkspaceLook } from "./workspace-look.js";

/** What looks at the workspace. */
export interface WorkspaceCaller {
  client: Client;
  /** The client's key. */
  apiKey: string;
  signal: AbortSignal;
}

/** Looks at what the API key may see of the workspace. What it may not see is said in one line. */
export async function* checkWorkspace({ client, apiKey, signal }: WorkspaceCaller): AsyncGenerator<CheckResult> {
  const list = createEndpointList();
  const looks: readonly WorkspaceLook[] = [checkKey(apiKey), checkEndpoints(list), checkDeliveries(list), checkLane];
  for (const { name, scope, unseen, look } of looks) {
    try {
      yield* await look(client, signal);
    } catch (error) {
      signal.throwIfAborted();
      const useless = judgeKey(error);
      // Every other look would end in the same way.
      if (useless !== undefined) return void (yield useless);
      yield error instanceof PermissionError
        ? refused(name, scope, unseen)
        : warn(name, `Not looked at: ${reasonOf(error)}`, "Try again; if it stays so, look at PIGEONHOLE_BASE_URL.");
    }
  }
}

/** The service refuses alike where the key lacks the scope, and where its role does. */
function refused(name: string, scope: string, unseen = ""): CheckResult {
  const message = `Not looked at: the API key, or its role, lacks the scope ${scope}.${unseen}`;
  return skip(name, message, `Add ${scope} to the key, and to its role if it has one.`);
}

/** The result for a key that no call takes; undefined when the error is about something else. */
function judgeKey(error: unknown): CheckResult | undefined {
  if (error instanceof AuthenticationError) {
    return fail(
      "key",
      "The service does not take the API key: it is wrong, revoked or expired.",
      "Set PIGEONHOLE_API_KEY to another.",
    );
  }
  if (error instanceof PermissionError && error.code === "inactive_api_key") {
    return fail(
      "key",
      "The API key is switched off.",
      "Switch it on in the app, or set PIGEONHOLE_API_KEY to another.",
    );
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  return escapeControls(errorMessage(error));
}
