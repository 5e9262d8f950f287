import { escapeControls } from "../../../base/text.js";
import type { HandlerRow } from "../../../web/api/handlers.js";
import { Empty } from "../../ui/empty.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { linkTo, readParam, SPAN_WORDS, sinceOf } from "../../state/address.js";
import { mayOperate } from "../../state/session.js";
import { handlers, loadHandlers, askAndPause, resumePaused } from "../../state/handlers.js";
import { now } from "../../state/now.js";
import { DataTable, ListRegion, type TableColumn } from "../../ui/data-table.js";
import { formatCount, formatExactTime, formatTime } from "../../text/format.js";
import { describeRunTime } from "../../../base/run-time-bounds.js";
import { ChoiceFilter } from "../../ui/filter-fields.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";

/** Handlers with what waits for them, and whether they are paused. */
export function HandlerPanel() {
  const span = readParam("runs");
  useListRefresh(() => void loadHandlers(sinceOf(span)), [now.value?.paused.length, span]);
  if (handlers.value.length === 0) return <Empty title="No handler is known" />;
  return (
    <>
      <div class="list-filters">
        <ChoiceFilter
          name="runs"
          label="Time of the runs"
          all="Last 24 hours"
          choices={["1h", "7d"]}
          words={SPAN_WORDS}
        />
      </div>
      <ListRegion label="Handlers">
        <DataTable
          label="Handlers"
          columns={[...COLUMNS.slice(0, 2), mayOperate.value && PAUSE, ...COLUMNS.slice(2)]}
          rows={handlers.value}
          keyOf={({ handler }) => handler}
          isInList
          list={{}}
        />
      </ListRegion>
    </>
  );
}

const COLUMNS: readonly TableColumn<HandlerRow>[] = [
  {
    title: "Handler",
    isName: true,
    class: "plain long",
    cell: ({ handler }) => <a href={linkTo("work", { handler, state: "pending" })}>{escapeControls(handler)}</a>,
  },
  { title: "State", class: "plain", cell: State },
  { title: "Runs", class: "number", cell: ({ times }) => formatCount(times?.runs ?? 0) },
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
  { title: "Pending or retrying", class: "number", cell: ({ pending }) => formatCount(pending) },
  { title: "Median", class: "number", cell: ({ times }) => (times === null ? "–" : describeRunTime(times.medianMs)) },
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
    const name = escapeControls(handler);
    return paused === null ? (
      <Button icon="pause" label="Pause" class="small" aria-label={`Pause ${name}`} run={() => askAndPause(handler)} />
    ) : (
      <Button label="Resume" class="small primary" aria-label={`Resume ${name}`} run={() => resumePaused(handler)} />
    );
  },
};
