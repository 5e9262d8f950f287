import { setParams, linkTo } from "../../state/address.js";
import { EventList } from "./event-list.js";
import { HandlerPanel } from "./handler-panel.js";
import { WORK_PARTS, workPart } from "./work-state.js";
import { useEffect } from "preact/hooks";
import { escapeControls } from "../../../base/text.js";
import { Empty } from "../../ui/empty.js";
import { formatExactTime } from "../../ui/format.js";
import { jobs, loadJobs } from "../state/jobs.js";
import type { BulkJobRow } from "../../../web/api/jobs.js";
import { DataTable, timeColumn, type TableColumn } from "../../ui/data-table.js";
import { describeJob, describeProgress } from "../ui/describe-job.js";
import { describeJobFilter } from "../ui/describe-job-filter.js";
import { signal } from "@preact/signals";
import type { RunningRow } from "../../../operator/figures-now.js";
import type { RunningWork } from "../../../web/api/work.js";
import { runAction } from "../../state/notice.js";
import { fetchRunning } from "../../api/calls.js";
import { now } from "../../state/now.js";
import { formatAge } from "../ui/format-age.js";
import { JobButtons } from "../ui/job-buttons.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";
import { shortText } from "../../ui/short-text.js";

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
        <div class="segments" role="group" aria-label="What is shown">
          {WORK_PARTS.map(({ name, label }) => (
            <button type="button" key={name} aria-pressed={name === part} onClick={() => setParams({ show: name })}>
              {label}
            </button>
          ))}
        </div>
      </header>
      <Part />
    </div>
  );
}

/** Jobs, those that have ended included. */
function JobPanel() {
  useEffect(() => void loadJobs(), []);
  const all = [...jobs.value.values()];
  if (all.length === 0) return <Empty title="No jobs yet" />;
  return (
    <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Jobs">
      <DataTable label="All jobs" columns={JOB_COLUMNS} rows={all} keyOf={({ id }) => id} isInList />
    </div>
  );
}

const JOB_COLUMNS: readonly TableColumn<BulkJobRow>[] = [
  timeColumn("Begun", ({ createdAt }) => createdAt),
  { title: "By", class: "long", cell: ({ by }) => escapeControls(by) },
  { title: "Action", class: "long", cell: describeJob },
  { title: "Of", class: "long", cell: ({ filter }) => describeJobFilter(filter) },
  { title: "Changed", class: "long", cell: describeProgress },
  {
    title: "",
    class: "number",
    cell: (job) => <JobButtons job={job} />,
  },
];

/** Null before it is loaded. */
const running = signal<RunningWork | null>(null);

/** Handlers that run now, of all processes, the longest first. */
function RunningPanel() {
  const count = now.value?.running;
  const load = () => void runAction(async () => void (running.value = await fetchRunning()));
  useListRefresh(load, () => false, [count]);
  const read = running.value;
  if (read === null) return <p class="hint dash-loading">Loading…</p>;
  if (read.items.length === 0) return <Empty title="Nothing runs now" />;
  return (
    <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Runs">
      <DataTable
        label="Handlers that run now"
        columns={RUN_COLUMNS}
        rows={read.items}
        keyOf={({ process, handler, eventId }) => `${process} ${handler} ${eventId}`}
        isInList
        list={{}}
      />
      {read.hasMore && <p class="hint dash-loading">More run than are listed: each process reports 50.</p>}
    </div>
  );
}

const RUN_COLUMNS: readonly TableColumn<RunningRow>[] = [
  {
    title: "For",
    class: "number",
    cell: ({ forMs }) => formatAge(forMs),
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
