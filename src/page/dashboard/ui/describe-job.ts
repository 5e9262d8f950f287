import { describeRest } from "../../../operator/describe-rest.js";
import type { BulkJobRow } from "../../../web/api/jobs.js";
import { formatCount } from "../../ui/format.js";

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

/** How much of its work a job has changed, and what became of the rest, in words. */
export function describeProgress({ done, total, ...rest }: BulkJobRow): string {
  // Others may change the work while a person reads the number and agrees.
  const isEmpty = total === 0 && done === 0;
  return [
    `${formatCount(done)} of ${formatCount(total)}`,
    ...(isEmpty ? ["nothing was left to change when it began"] : []),
    ...describeRest(rest, { by: "job", format: formatCount }),
  ].join(", ");
}
