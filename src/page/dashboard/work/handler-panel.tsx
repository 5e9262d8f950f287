import { describeRunTime } from "../../../base/run-time-bounds.js";
import { escapeControls } from "../../../base/text.js";
import type { HandlerRow } from "../../../web/api/work.js";
import { Empty } from "../../ui/empty.js";
import { formatCount, formatExactTime, formatTime } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { linkTo } from "../../state/address.js";
import { mayOperate } from "../../state/session.js";
import { handlers, loadHandlers, askAndPause, resumePaused } from "../../state/handlers.js";
import { now } from "../../state/now.js";
import { DataTable, type TableColumn } from "../../ui/data-table.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";

/** Handlers with what waits for them, and whether they are paused. */
export function HandlerPanel() {
  useListRefresh(
    () => void loadHandlers(),
    () => false,
    [now.value?.paused.length],
  );
  if (handlers.value.length === 0) return <Empty title="No handler is known" />;
  return (
    <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Handlers">
      <DataTable
        label="Handlers"
        columns={[...COLUMNS.slice(0, 2), mayOperate.value && PAUSE, ...COLUMNS.slice(2)]}
        rows={handlers.value}
        keyOf={({ handler }) => handler}
        isInList
        list={{}}
      />
    </div>
  );
}

const COLUMNS: readonly TableColumn<HandlerRow>[] = [
  {
    title: "Handler",
    class: "plain long",
    cell: ({ handler }) => <a href={linkTo("work", { handler, state: "pending" })}>{escapeControls(handler)}</a>,
  },
  { title: "State", class: "plain", cell: State },
  { title: "Runs of 24 h", class: "number", cell: ({ times }) => formatCount(times?.runs ?? 0) },
  {
    title: "Failed",
    class: "number",
    cell: ({ times, isFailing }) => (
      <span class={isFailing ? "bad" : ""}>
        {times === null ? "–" : `${((100 * times.failed) / times.runs).toFixed(1)} %`}
      </span>
    ),
  },
  {
    title: "Last error",
    cell: ({ handler, lastError }) =>
      lastError === null ? (
        "–"
      ) : (
        <a href={linkTo("errors", { handler })} title={formatExactTime(lastError.at)}>
          {lastError.kind}
        </a>
      ),
  },
  { title: "Waiting or retrying", class: "number", cell: ({ pending }) => formatCount(pending) },
  {
    title: "Median",
    class: "number",
    cell: ({ times }) => (times === null ? "–" : describeRunTime(times.medianMs)),
  },
  { title: "95 %", class: "number", cell: ({ times }) => (times === null ? "–" : describeRunTime(times.p95Ms)) },
];

function State({ paused, isFailing }: HandlerRow) {
  return paused === null ? (
    <span class={isFailing ? "bad" : "good"}>{isFailing ? "fails" : "runs"}</span>
  ) : (
    <span class="badge warn" title={formatExactTime(paused.since)}>
      <Icon name="pause" /> paused by {escapeControls(paused.by)} since {formatTime(paused.since)}
    </span>
  );
}

const PAUSE: TableColumn<HandlerRow> = {
  title: "",
  cell({ handler, paused }) {
    const name = <span class="unseen"> {escapeControls(handler)}</span>;
    return paused === null ? (
      <button type="button" class="button small" onClick={() => void askAndPause(handler)}>
        <Icon name="pause" /> Pause{name}
      </button>
    ) : (
      <button type="button" class="button small primary" onClick={() => void resumePaused(handler)}>
        Resume{name}
      </button>
    );
  },
};
