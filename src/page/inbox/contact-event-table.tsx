import type { ContactEventRow } from "../../dev/api/page-api.js";
import { StateBadge } from "../ui/badges.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { changeContact, contactEventRows } from "./inbox-state.js";
import { InboxTable } from "./inbox-table.js";

/** The outbox: contact events to send to the service, and its answer for dead ones. */
export function ContactEventTable() {
  const rows = contactEventRows.value;
  return (
    <InboxTable
      label="Contact events"
      isEmpty={rows.length === 0}
      emptyTitle="The outbox is empty"
      emptyText="Contact events that handlers record wait here until the service has taken them."
      head={
        <>
          <th scope="col">State</th>
          <th scope="col">Recorded</th>
          <th scope="col">Name</th>
          <th scope="col">Contact</th>
          <th scope="col">Why</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </>
      }
    >
      {rows.map((row) => (
        <Row key={row.key} row={row} />
      ))}
    </InboxTable>
  );
}

function Row({ row }: { row: ContactEventRow }) {
  const isDead = row.state === "dead";
  return (
    <tr>
      <td>
        <StateBadge state={row.state} />
      </td>
      <td title={formatExactTime(row.recordedAt)}>{formatTime(row.recordedAt)}</td>
      <td title={row.key}>{row.name}</td>
      <td>{row.contact}</td>
      <td class="error-cell">
        {isGiven(row.code) && <code class="tag">{row.code}</code>}
        {isGiven(row.param) && <code class="tag">{row.param}</code>} {row.message ?? row.reason}
      </td>
      <td class="row-actions">
        {isDead && (
          <>
            <button type="button" class="button small" onClick={() => void changeContact(row.key, "retry")}>
              <Icon name="replay" /> Retry
            </button>
            <button type="button" class="button small danger" onClick={() => void changeContact(row.key, "discard")}>
              <Icon name="trash" /> Discard
            </button>
          </>
        )}
      </td>
    </tr>
  );
}

function isGiven(text: string | null): text is string {
  return text !== null && text !== "";
}
