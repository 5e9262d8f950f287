import type { Client } from "../../client/call-types.js";
import type { CheckResult } from "../frame/check-result.js";

/** One look at the workspace through the API. */
export interface WorkspaceLook {
  /** Name of its results. */
  name: string;
  /** The scope that a key needs for it. */
  scope: string;
  /** What else is not known without it: a sentence after a space. */
  unseen?: string;
  look: (client: Client, signal: AbortSignal) => Promise<CheckResult[]>;
}
