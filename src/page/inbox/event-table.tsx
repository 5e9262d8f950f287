import { escapeControls } from "../../base/text.js";
import { type PieceWord, piecesIn, wordOfPiece } from "../../capture/model/work-word.js";
import type { InboxEvent } from "../../dev/api/page-api.js";
import { ListedBadge } from "../ui/badges.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";
import { inboxRowId } from "./inbox-selection.js";
import { inboxEvents, inboxState, showRow } from "./inbox-state.js";
import { ChooseCell, InboxTable, rowClass } from "./inbox-table.js";

const COLUMNS = [
  ["state-column", "State"],
  ["received-column", "Received"],
  ["name-column", "Type"],
  ["event-column", "Event"],
  ["handlers-column", "Handlers"],
  [undefined, "Last error"],
] as const;

/** Events of the inbox, newest first, with the most important error. */
export function EventTable() {
  const rows = inboxEvents.value;
  return (
    <InboxTable
      label="Events"
      class="events"
      isEmpty={rows.length === 0}
      emptyTitle="The inbox is empty"
      emptyText="Events appear here once the receiver has taken them."
      rows={plural(rows.length, "event")}
      columns={COLUMNS}
    >
      {rows.map((event) => (
        <tr key={event.id} id={inboxRowId(event.id)} class={rowClass(event.id)} onClick={() => showRow(event.id)}>
          <ChooseCell row={event.id} what={escapeControls(event.id)} />
          <td class="state-column">
            <ListedBadge event={event} state={inboxState.value} />
          </td>
          <td class="received-column" title={formatExactTime(event.receivedAt)}>
            {formatTime(event.receivedAt)}
          </td>
          <td class="name-column" title={escapeControls(event.type)}>
            <button
              type="button"
              class="link"
              aria-label={`${event.type === "" ? "unreadable" : escapeControls(event.type)}, show ${escapeControls(event.id)}`}
            >
              {event.type === "" ? <em>unreadable</em> : escapeControls(event.type)}
            </button>{" "}
            {event.test && <span class="tag">test</span>}
          </td>
          <td class="event-column" title={escapeControls(event.id)}>
            <code>{escapeControls(event.id)}</code>
          </td>
          <td class="handlers-column">{describeHandlers(event)}</td>
          <td class="error-cell">{lastError(event)}</td>
        </tr>
      ))}
    </InboxTable>
  );
}

function describeHandlers({ handlers }: InboxEvent): string {
  if (handlers.length === 0) return "–";
  const words = handlers.map(wordOfPiece);
  const count = (word: PieceWord): number => words.filter((each) => each === word).length;
  const discarded = count("discarded");
  return `${count("done")} of ${handlers.length} done${discarded === 0 ? "" : `, ${discarded} discarded`}`;
}

function lastError({ handlers }: InboxEvent): string {
  const sought = [...piecesIn(handlers, inboxState.value), ...handlers];
  const failed = sought.find(({ error, state }) => error !== null && state !== "done");
  return failed?.error ?? failed?.reason ?? sought.find(({ reason }) => reason !== null)?.reason ?? "";
}
