import { escapeControls } from "../../../base/text.js";
import type { JobFilter } from "../../../web/api/jobs.js";
import { formatTime, plural } from "../../ui/format.js";

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
