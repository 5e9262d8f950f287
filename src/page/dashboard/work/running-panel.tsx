import { signal } from "@preact/signals";
import type { RunningWork } from "../../../dashboard/api/work.js";
import { runAction } from "../../state/notice.js";
import { Empty } from "../../ui/empty.js";
import { formatExactTime } from "../../ui/format.js";
import { fetchRunning } from "../api/fetch-and-post.js";
import { linkTo } from "../state/dashboard-address.js";
import { now } from "../state/now.js";
import { DataTable } from "../ui/data-table.js";
import { formatAge } from "../ui/format-age.js";
import { ProcessName } from "../ui/process-name.js";
import { useListRefresh } from "../ui/use-list-refresh.js";
import { shortText } from "../ui/short-text.js";

/** Null before it is loaded. */
const running = signal<RunningWork | null>(null);

/** Handlers that run now, of all processes, the longest first. */
export function RunningPanel() {
  const count = now.value?.running;
  const load = () => void runAction(async () => void (running.value = await fetchRunning()));
  useListRefresh(load, () => false, [count]);
  const read = running.value;
  if (read === null) return <p class="hint dash-loading">Loading…</p>;
  if (read.items.length === 0) return <Empty title="Nothing runs now" />;
  return (
    <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Runs">
      <DataTable label="Handlers that run now" columns={["#For", "Handler", "Event", "Process"]}>
        {read.items.map(({ process, handler, eventId, since, forMs }) => (
          <tr key={`${process} ${handler} ${eventId}`} data-row={eventId}>
            <td class="number" title={formatExactTime(since)}>
              {formatAge(forMs)}
            </td>
            <td class="long">{shortText(handler)}</td>
            <td class="long">
              <a href={linkTo("event", { id: eventId })}>
                <code>{shortText(eventId)}</code>
              </a>
            </td>
            <td>
              <ProcessName process={process} />
            </td>
          </tr>
        ))}
      </DataTable>
      {read.hasMore && <p class="hint dash-loading">More run than are listed: each process reports 50.</p>}
    </div>
  );
}
