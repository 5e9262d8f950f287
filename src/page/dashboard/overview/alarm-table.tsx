import { escapeControls } from "../../../base/text.js";
import { formatExactTime, formatTime } from "../../ui/format.js";
import { now } from "../state/now.js";
import { DataTable } from "../ui/data-table.js";

/** What this process warns of, and what to do about it. */
export function AlarmTable() {
  const alarms = now.value?.alarms ?? [];
  if (alarms.length === 0) return null;
  return (
    <section class="plot processes" aria-label="Alarms">
      <h2>Alarms of this process</h2>
      <DataTable label="Alarms of this process" columns={["Alarm", "Since", "What to do"]}>
        {alarms.map(({ kind, since, at, detail, advice }) => (
          <tr key={kind}>
            <td class="long">
              <code>{kind}</code> <span class="hint">{escapeControls(detail)}</span>
            </td>
            <td title={`Last raised ${formatExactTime(at)}`}>{formatTime(since)}</td>
            <td class="long">{advice}</td>
          </tr>
        ))}
      </DataTable>
    </section>
  );
}
