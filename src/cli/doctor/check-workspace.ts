import { escapeControls } from "../../base/text.js";
import type { Client } from "../../client/call-types.js";
import { AuthenticationError, PermissionError } from "../../client/errors.js";
import { type CheckResult, fail, skip, warn } from "../frame/check-result.js";
import { checkDeliveries } from "./check-deliveries.js";
import { checkEndpoints } from "./check-endpoints.js";
import { checkLane } from "./check-lane.js";
import type { WorkspaceLook } from "./workspace-look.js";

const LOOKS: readonly WorkspaceLook[] = [checkEndpoints, checkDeliveries, checkLane];

/** Looks at what the API key may see of the workspace. What it may not see is said in one line. */
export async function* checkWorkspace(client: Client, signal: AbortSignal): AsyncGenerator<CheckResult> {
  for (const { name, scope, look } of LOOKS) {
    try {
      yield* await look(client, signal);
    } catch (error) {
      signal.throwIfAborted();
      const useless = judgeKey(error);
      // Every other look would end in the same way.
      if (useless !== undefined) return void (yield useless);
      yield error instanceof PermissionError
        ? skip(name, `Not looked at: the API key lacks the scope ${scope}.`)
        : warn(name, `Not looked at: ${reasonOf(error)}`, "Try again; if it stays so, look at --base-url.");
    }
  }
}

/** The result for a key that no call takes; undefined when the error is about something else. */
function judgeKey(error: unknown): CheckResult | undefined {
  if (error instanceof AuthenticationError) {
    return fail("key", "The service does not take the API key.", "Set PIGEONHOLE_API_KEY to a key that is in force.");
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
  return escapeControls(error instanceof Error ? error.message : "there was no answer.");
}
