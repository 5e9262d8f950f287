import type { DashboardContactEvent } from "../../dashboard/api/contact-events.js";
import { RefusalTags } from "./refusal-tags.js";
import { ContactEventBadge } from "../ui/badges.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { setParams } from "../state/address.js";
import { outboxFace } from "./outbox-face.js";
import { outboxSelection, openKey } from "./outbox-state.js";
import { shortText } from "../ui/short-text.js";
import { describeWait } from "./waits-behind.js";

/** One contact event of the list; a click opens it. */
export function OutboxRow({ row }: { row: DashboardContactEvent }) {
  const { key, recordedAt, attempts, dueAt } = row;
  const [name, contact] = [shortText(row.name), shortText(row.contact)];
  const why = shortText(
    row.waitsBehind === null ? (row.message ?? row.reason ?? row.error ?? "") : describeWait(row.waitsBehind),
  );
  const open = () => setParams({ key });
  return (
    <tr data-row={key} class={key === openKey.value ? "shown" : ""} onClick={open}>
      {outboxFace().mayOperate() && (
        <td class="choose" onClick={(click) => click.stopPropagation()}>
          <input
            type="checkbox"
            aria-label={`Choose ${name} for ${contact}`}
            checked={outboxSelection.has(key)}
            onChange={() => outboxSelection.toggle(key)}
          />
        </td>
      )}
      <td class="state-column">
        <ContactEventBadge event={row} />
      </td>
      <td class="received-column" title={formatExactTime(recordedAt)}>
        {formatTime(recordedAt)}
      </td>
      <td class="name-column">
        <button type="button" class="link" aria-label={`${name}, show ${shortText(key)}`}>
          {name}
        </button>
      </td>
      <td class="contact-column">{contact}</td>
      <td class="next-column">{dueAt === null ? attempts : `${attempts}, next ${formatTime(dueAt)}`}</td>
      <td class="error-cell" title={why}>
        <RefusalTags event={row} /> {why}
      </td>
    </tr>
  );
}
