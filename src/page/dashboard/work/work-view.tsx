import { setParams, linkTo } from "../../state/address.js";
import { EventList } from "./event-list.js";
import { HandlerPanel } from "./handler-panel.js";
import { WORK_PARTS, workPart } from "./work-state.js";
import { useEffect } from "preact/hooks";
import { escapeControls } from "../../../base/text.js";
import { Empty } from "../../ui/empty.js";
import { formatExactTime, formatTime } from "../../ui/format.js";
import { mayOperate } from "../state/dashboard-session.js";
import { jobs, loadJobs, stopJob } from "../state/jobs.js";
import { DataTable } from "../../ui/data-table.js";
import { describeJob, describeProgress } from "../ui/describe-job.js";
import { describeJobFilter } from "../ui/describe-job-filter.js";
import { signal } from "@preact/signals";
import type { RunningWork } from "../../../dashboard/api/work.js";
import { runAction } from "../../state/notice.js";
import { fetchRunning } from "../api/fetch-and-post.js";
import { now } from "../../state/now.js";
import { formatAge } from "../ui/format-age.js";
import { ProcessName } from "../ui/process-name.js";
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
      <DataTable label="All jobs" columns={["Begun", "By", "Action", "Of", "Changed", ""]}>
        {all.map((job) => (
          <tr key={job.id}>
            <td title={formatExactTime(job.createdAt)}>{formatTime(job.createdAt)}</td>
            <td class="long">{escapeControls(job.by)}</td>
            <td class="long">{describeJob(job)}</td>
            <td class="long">{describeJobFilter(job.filter)}</td>
            <td class="long">{describeProgress(job)}</td>
            <td class="number">
              {job.state === "open" && mayOperate.value && (
                <button type="button" class="button small" onClick={() => void stopJob(job.id)}>
                  Cancel
                </button>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}

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
