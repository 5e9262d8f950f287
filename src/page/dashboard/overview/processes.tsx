import { formatExactTime, formatTime } from "../../ui/format.js";
import { now } from "../state/now.js";
import { DataTable } from "../ui/data-table.js";
import { ProcessName } from "../ui/process-name.js";

/** The processes that have the store open, if they are several. */
export function Processes() {
  const processes = now.value?.processes ?? [];
  if (processes.length < 2) return null;
  return (
    <section class="plot processes" aria-label="Processes">
      <h2>Processes</h2>
      <DataTable
        label="Processes on this store"
        columns={["Process", "Role", "State", "#Failures in a row", "#Runs now", "Reported"]}
      >
        {processes.map(({ process, role, isThis, isAlive, state, failuresInARow, running, reportedAt }) => (
          <tr key={process}>
            <td>
              <ProcessName process={process} /> {isThis && <span class="tag">this one</span>}
            </td>
            <td>{role}</td>
            <td>{isAlive ? state : <span class="bad">not reporting</span>}</td>
            <td class="number">{failuresInARow}</td>
            <td class="number">{running}</td>
            <td title={formatExactTime(reportedAt)}>{formatTime(reportedAt)}</td>
          </tr>
        ))}
      </DataTable>
    </section>
  );
}
