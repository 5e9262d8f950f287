import { escapeControls } from "../../base/text.js";
import type { ContactEventRow } from "../../dev/api/page-api.js";
import { ContactEventBadge } from "../ui/badges.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";
import { inboxRowId } from "./inbox-selection.js";
import { contactEventRows, showRow } from "./inbox-state.js";
import { ChooseCell, InboxTable, rowClass } from "./inbox-table.js";
import { RefusalTags } from "./refusal-tags.js";

const COLUMNS = [
  ["state-column", "State"],
  ["received-column", "Recorded"],
  ["name-column", "Name"],
  ["contact-column", "Contact"],
  ["tries-column", "Tries"],
  [undefined, "Why"],
] as const;

/** The outbox: contact events to send to the service, and its answer for dead ones. */
export function ContactEventTable() {
  const rows = contactEventRows.value;
  return (
    <InboxTable
      label="Contact events"
      class="contact-events"
      isEmpty={rows.length === 0}
      emptyTitle="The outbox is empty"
      emptyText="Contact events that handlers record wait here until the service has taken them."
      rows={plural(rows.length, "contact event")}
      columns={COLUMNS}
    >
      {rows.map((row) => (
        <Row key={row.key} row={row} />
      ))}
    </InboxTable>
  );
}

function Row({ row }: { row: ContactEventRow }) {
  const { key, recordedAt, contact } = row;
  const name = escapeControls(row.name);
  const why = row.message ?? row.reason ?? row.error ?? "";
  return (
    <tr id={inboxRowId(key)} class={rowClass(key)} onClick={() => showRow(key)}>
      <ChooseCell row={key} what={`${name} for ${escapeControls(contact)}`} />
      <td class="state-column">
        <ContactEventBadge event={row} />
      </td>
      <td class="received-column" title={formatExactTime(recordedAt)}>
        {formatTime(recordedAt)}
      </td>
      <td class="name-column" title={key}>
        <button type="button" class="link" aria-label={`${name}, show ${escapeControls(key)}`}>
          {name}
        </button>
      </td>
      <td class="contact-column">{escapeControls(contact)}</td>
      <td class="tries-column">{describeTries(row)}</td>
      <td class="error-cell" title={why}>
        <RefusalTags event={row} />
        {why !== "" && ` ${why}`}
      </td>
    </tr>
  );
}

/** Such as `2, next 14:02:11`. */
function describeTries({ attempts, dueAt }: ContactEventRow): string {
  return dueAt === null ? String(attempts) : `${attempts}, next ${formatTime(dueAt)}`;
}
