import type { BulkJobRow } from "../../../dashboard/dashboard-api.js";

const OPEN = { retry: "Retrying", discard: "Discarding", run: "Making due now" } as const;
const DONE = { retry: "Retried", discard: "Discarded", run: "Due now" } as const;

/** How far a job is, in words. */
export function describeJob({ action, state, error }: BulkJobRow): string {
  switch (state) {
    case "open":
      return OPEN[action];
    case "done":
      return DONE[action];
    case "cancelled":
      return `${OPEN[action]}: cancelled`;
    case "failed":
      return `${OPEN[action]}: stopped by an error${error === null ? "" : `: ${error}`}`;
  }
}
