import { escapeControls } from "../../../base/text.js";
import { describeRest } from "../../../operator/describe-rest.js";
import { formatCount, formatTime, plural } from "../../text/format.js";
import type { BulkJobRow, JobFilter } from "../../../web/api/jobs.js";

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

/** Such as `dead, handler crm, since Nov 20 14:02:11`. */
export function describeJobFilter({ state, handler, type, source, error, since, until, ...rest }: JobFilter): string {
  const { isErrorErased, isGroup, chosen, types } = rest;
  const parts = [
    chosen === undefined ? undefined : plural(chosen, "chosen event"),
    state,
    handler === undefined ? undefined : `handler ${handler}`,
    type ?? types?.join(" "),
    source === undefined ? undefined : `source ${source}`,
    error === undefined ? undefined : `error "${error}"`,
    isErrorErased === undefined ? undefined : "a text in errors (erased)",
    isGroup === undefined ? undefined : "one group of errors",
    since === undefined ? undefined : `since ${formatTime(since)}`,
    until === undefined ? undefined : `before ${formatTime(until)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? "all work" : escapeControls(parts.join(", "));
}
