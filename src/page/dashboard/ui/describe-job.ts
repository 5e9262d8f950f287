import { escapeControls } from "../../../base/text.js";
import { describeRest } from "../../../operator/describe-rest.js";
import type { BulkJobRow } from "../../../web/api/jobs.js";
import { formatCount } from "../../ui/format.js";

const OPEN = { retry: "Retrying", discard: "Discarding", run: "Making due now", plan: "Giving history to" } as const;
const DONE = { retry: "Retried", discard: "Discarded", run: "Due now", plan: "Gave history to" } as const;

/** How far a job is, in words. */
export function describeJob({ action, state, error, paused, filter }: BulkJobRow): string {
  const handler = action === "plan" ? ` ${escapeControls(filter.handler ?? "")}` : "";
  const open = `${OPEN[action]}${handler}`;
  switch (state) {
    case "open":
      return paused ? `${open}: paused` : open;
    case "done":
      return `${DONE[action]}${handler}`;
    case "cancelled":
      return `${open}: cancelled`;
    case "failed":
      return `${open}: stopped by an error${error === null ? "" : `: ${error}`}`;
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
