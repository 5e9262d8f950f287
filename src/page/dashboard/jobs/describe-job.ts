import { escapeControls } from "../../../base/text.js";
import { formatCount, formatTime, plural } from "../../text/format.js";
import type { BulkJob, JobFilter } from "../../../store/bulk-jobs.js";

const OPEN = { retry: "Retrying", discard: "Discarding", run: "Making due now", plan: "Giving history to" } as const;
const DONE = { retry: "Retried", discard: "Discarded", run: "Due now", plan: "Gave history to" } as const;

/** How far a job is, in words. */
export function describeJob({ action, state, error, paused, filter }: BulkJob): string {
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
export function describeProgress({ done, total, changedBefore }: BulkJob): string {
  const progress = `${formatCount(done)} of ${formatCount(total)}`;
  // Others may change the work while a person reads the number and agrees.
  if (total === 0 && done === 0) return `${progress}, nothing was left to change when it began`;
  if (changedBefore === 0) return progress;
  const them = changedBefore === 1 ? "it" : "them";
  return `${progress}, ${formatCount(changedBefore)} had been changed before this job came to ${them}`;
}

/** Such as `dead, handler crm, since Nov 20 14:02:11`. */
export function describeJobFilter(filter: JobFilter): string {
  const { state, type, types, chosen, error, errorGroup, since, until, ...texts } = filter;
  const parts = [
    chosen === null ? null : plural(chosen, "chosen event"),
    state,
    ...Object.entries(texts).map(([name, text]) => (text === null ? null : `${name} ${text}`)),
    type ?? types?.join(" "),
    error === null ? null : `error "${error}"`,
    errorGroup === null ? null : "one group of errors",
    since === null ? null : `since ${formatTime(since)}`,
    until === null ? null : `before ${formatTime(until)}`,
  ].filter((part) => typeof part === "string");
  return parts.length === 0 ? "all work" : escapeControls(parts.join(", "));
}
