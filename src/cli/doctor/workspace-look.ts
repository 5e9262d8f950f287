import type { Client } from "../../client/call-types.js";
import type { CheckResult } from "../frame/check-result.js";

/** One look at the workspace through the API. */
export interface WorkspaceLook {
  /** Name of its results. */
  name: string;
  /** The scope that a key needs for it. */
  scope: string;
  look: (client: Client, signal: AbortSignal) => Promise<CheckResult[]>;
}
