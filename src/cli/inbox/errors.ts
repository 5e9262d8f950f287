import { isoTime } from "../../base/iso-time.js";
import { escapeControls } from "../../base/text.js";
import type { ErrorGroup } from "../../store/error-groups.js";
import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { formatTable } from "../frame/format.js";
import { allRows } from "../values/all-rows.js";
import { withInbox } from "../values/find-inbox.js";
import { MAX_ROWS } from "../values/options.js";
import { groupRecord } from "./group-record.js";
import type * as specs from "./spec.js";

/** Lists errors of unfinished work, gathered by what they have in common. */
export const errors: RunCommand<typeof specs.inboxErrors> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { handler, type, state, since, until, limit } = options;
    if (since !== undefined && until !== undefined && since >= until) {
      throw usageError("No time is between --since and --until: --since must be before --until.");
    }
    const filter = { handler, type, state, since, until };
    const groups: ErrorGroup[] = [];
    // One more than is shown says whether there are others.
    const found = allRows(limit + 1, (page) => inbox.listErrorGroups({ ...filter, ...page }));
    for await (const group of found) groups.push(group);
    const items = groups.slice(0, limit);
    for (const group of items) if (out.isJson) out.result({ group: groupRecord(group) }, "");
    if (out.isJson) return;
    if (items.length === 0) out.note("No errors.");
    else
      out.result(
        {},
        formatTable(
          ["FIRST", "LAST", "EVENTS", "HANDLER", "TYPE", "ERROR", "GROUP"],
          items.map(groupRow),
          out.paint.dim,
        ),
      );
    if (groups.length > limit) {
      const raise = limit < MAX_ROWS ? "raise --limit, or " : "";
      out.note(`There are more groups: ${raise}choose by --handler or --type.`);
    }
  });

function groupRow({ firstAt, lastAt, events, isCapped, handler, type, kind, message, id }: ErrorGroup): string[] {
  return [
    isoTime(firstAt),
    isoTime(lastAt),
    isCapped ? `${events}+` : String(events),
    escapeControls(handler === "" ? "–" : handler),
    escapeControls(type === "" ? "–" : type),
    message === "" ? kind : `${kind}: ${message}`,
    id,
  ];
}
