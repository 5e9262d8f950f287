import { describeRunTime } from "../../../base/run-time-bounds.js";
import { escapeControls } from "../../../base/text.js";
import type { HandlerRow } from "../../../dashboard/api/work.js";
import { Empty } from "../../ui/empty.js";
import { formatCount, formatExactTime, formatTime } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { linkTo } from "../../state/address.js";
import { mayOperate } from "../state/dashboard-session.js";
import { handlers, loadHandlers, askAndPause, resumePaused } from "../state/handlers.js";
import { now } from "../../state/now.js";
import { DataTable } from "../../ui/data-table.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";

/** Handlers with what waits for them, and whether they are paused. */
export function HandlerPanel() {
  useListRefresh(
    () => void loadHandlers(),
    () => false,
    [now.value?.paused.length],
  );
  if (handlers.value.length === 0) return <Empty title="No handler is known" />;
  const mayPause = mayOperate.value;
  return (
    <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Handlers">
      <DataTable
        label="Handlers"
        columns={[
          "Handler",
          "State",
          ...(mayPause ? [""] : []),
          "#Runs of 24 h",
          "#Failed",
          "Last error",
          "#Waiting or retrying",
          "#Median",
          "#95 %",
        ]}
      >
        {handlers.value.map((row) => (
          <Row key={row.handler} row={row} mayPause={mayPause} />
        ))}
      </DataTable>
    </div>
  );
}

function Row({ row, mayPause }: { row: HandlerRow; mayPause: boolean }) {
  const { handler, paused, pending, times, isFailing, lastError } = row;
  const name = escapeControls(handler);
  return (
    <tr data-row={handler}>
      <td class="long">
        <a href={linkTo("work", { handler, state: "pending" })}>{name}</a>
      </td>
      <td>
        {paused === null ? (
          <span class={isFailing ? "bad" : "good"}>{isFailing ? "fails" : "runs"}</span>
        ) : (
          <span class="badge warn" title={formatExactTime(paused.since)}>
            <Icon name="pause" /> paused by {escapeControls(paused.by)} since {formatTime(paused.since)}
          </span>
        )}
      </td>
      {mayPause && (
        <td>
          {paused === null ? (
            <button type="button" class="button small" onClick={() => void askAndPause(handler)}>
              <Icon name="pause" /> Pause<span class="unseen"> {name}</span>
            </button>
          ) : (
            <button type="button" class="button small primary" onClick={() => void resumePaused(handler)}>
              Resume<span class="unseen"> {name}</span>
            </button>
          )}
        </td>
      )}
      <td class="number">{formatCount(times?.runs ?? 0)}</td>
      <td class={isFailing ? "number bad" : "number"}>
        {times === null ? "–" : `${((100 * times.failed) / times.runs).toFixed(1)} %`}
      </td>
      <td>
        {lastError === null ? (
          "–"
        ) : (
          <a href={linkTo("errors", { handler })} title={formatExactTime(lastError.at)}>
            {lastError.kind}
          </a>
        )}
      </td>
      <td class="number">{formatCount(pending)}</td>
      <td class="number">{times === null ? "–" : describeRunTime(times.medianMs)}</td>
      <td class="number">{times === null ? "–" : describeRunTime(times.p95Ms)}</td>
    </tr>
  );
}
