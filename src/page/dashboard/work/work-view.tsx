import { signal } from "@preact/signals";
import type { RunningRow } from "../../../operator/figures-now.js";
import type { RunningWork } from "../../../dashboard/state-now.js";
import { fetchRunning } from "../../api/calls.js";
import { linkTo, setParams } from "../../state/address.js";
import { runAction } from "../../state/notice.js";
import { now } from "../../state/now.js";
import { formatExactTime, formatSpan, shortText } from "../../text/format.js";
import { DataTable, ListRegion, type TableColumn } from "../../ui/data-table.js";
import { Empty } from "../../ui/empty.js";
import { Segments } from "../../ui/tabs.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";
import { JobPanel } from "../jobs/job-strip.js";
import { EventList } from "./event-list.js";
import { HandlerPanel } from "./handler-panel.js";
import { WORK_PARTS, workPart } from "./work-state.js";

const PANELS = { "": EventList, running: RunningPanel, handlers: HandlerPanel, jobs: JobPanel };

/** Events by the state of their work, what runs now, handlers, and jobs. */
export function WorkView() {
  const part = workPart.value;
  const Part = PANELS[part];
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Work</h1>
        <span class="spring" />
        <Segments label="Part" choices={WORK_PARTS} current={part} choose={(show) => setParams({ show })} />
      </header>
      <Part />
    </div>
  );
}

/** Null before it is loaded. */
const running = signal<RunningWork | null>(null);

/** Handlers that run now, of all processes, the longest first. */
function RunningPanel() {
  const load = () => void runAction(async () => void (running.value = await fetchRunning()));
  useListRefresh(load, [now.value?.running]);
  const read = running.value;
  if (read === null) return <p class="hint dash-loading">Loading…</p>;
  if (read.items.length === 0) return <Empty title="Nothing runs now" />;
  return (
    <ListRegion label="Runs">
      <DataTable
        label="Handlers that run now"
        columns={RUN_COLUMNS}
        rows={read.items}
        keyOf={({ process, handler, eventId }) => `${process} ${handler} ${eventId}`}
        isInList
        list={{}}
      />
      {read.hasMore && <p class="hint dash-loading">More run than are listed: each process reports 50.</p>}
    </ListRegion>
  );
}

const RUN_COLUMNS: readonly TableColumn<RunningRow>[] = [
  {
    title: "For",
    class: "number",
    cell: ({ forMs }) => formatSpan(forMs),
    hint: ({ since }) => formatExactTime(since),
  },
  { title: "Handler", class: "long", cell: ({ handler }) => shortText(handler) },
  {
    title: "Event",
    class: "long",
    cell: ({ eventId }) => (
      <a href={linkTo("event", { id: eventId })}>
        <code>{shortText(eventId)}</code>
      </a>
    ),
  },
  { title: "Process", cell: ({ host, pid }) => <code>{shortText(`${host}:${pid}`)}</code> },
];
