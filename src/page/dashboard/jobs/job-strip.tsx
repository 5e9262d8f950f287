import { useEffect } from "preact/hooks";
import { escapeControls } from "../../../base/text.js";
import type { BulkJob } from "../../../store/bulk-jobs.js";
import { now } from "../../state/now.js";
import { mayOperate } from "../../state/session.js";
import { Button, IconButton } from "../../ui/button.js";
import { DataTable, ListRegion, type TableColumn, timeColumn } from "../../ui/data-table.js";
import { Empty } from "../../ui/empty.js";
import { describeJob, describeJobFilter, describeProgress } from "./describe-job.js";
import { changeJob, closeJob, jobs, loadJobs, shownJobs } from "./jobs.js";

/** How far jobs are. They go on without this page. */
export function JobStrip() {
  if (shownJobs.value.length === 0) return null;
  return (
    <section aria-label="Jobs">
      {shownJobs.value.map((job) => (
        <JobLine key={job.id} job={job} />
      ))}
    </section>
  );
}

function JobLine({ job }: { job: BulkJob }) {
  const { id, total, done, state, by, paused } = job;
  const words = describeJob(job);
  return (
    <div class="banner job">
      <span class="job-words" role="status">
        {words}
      </span>
      <progress aria-label={words} max={Math.max(1, total)} value={state === "done" ? Math.max(1, total) : done} />
      <span class="hint">
        {describeProgress(job)} · {escapeControls(by)}
      </span>
      {state === "open" && !paused && <WhyItWaits />}
      <JobButtons job={job} />
      {state !== "open" && <IconButton icon="cross" label="Close" onClick={() => closeJob(id)} />}
    </div>
  );
}

/** Nothing while jobs go on. */
function WhyItWaits() {
  const trouble = now.value?.jobTrouble ?? now.value?.trouble ?? null;
  if (trouble === null) return null;
  return (
    <span class="warn" role="status">
      It waits: {escapeControls(trouble.message)} {escapeControls(trouble.advice)} It goes on by itself.
    </span>
  );
}

/** What a person can do with a job that is open. */
function JobButtons({ job: { id, state, paused } }: { job: BulkJob }) {
  if (state !== "open" || !mayOperate.value) return null;
  return (
    <>
      <Button
        label={paused ? "Resume" : "Pause"}
        class="small"
        run={() => changeJob(id, paused ? "resume" : "pause")}
      />
      <Button label="Cancel" class="small" run={() => changeJob(id, "cancel")} />
    </>
  );
}

/** All jobs, those that have ended included. */
export function JobPanel() {
  useEffect(() => void loadJobs(), []);
  const all = [...jobs.value.values()];
  if (all.length === 0) return <Empty title="No jobs yet" />;
  return (
    <ListRegion label="Jobs">
      <DataTable label="All jobs" columns={COLUMNS} rows={all} keyOf={({ id }) => id} isInList />
    </ListRegion>
  );
}

const COLUMNS: readonly TableColumn<BulkJob>[] = [
  timeColumn("Begun", ({ createdAt }) => createdAt),
  { title: "By", class: "long", cell: ({ by }) => escapeControls(by) },
  { title: "Action", class: "long", cell: describeJob },
  { title: "Of", class: "long", cell: ({ filter }) => describeJobFilter(filter) },
  { title: "Changed", class: "long", cell: describeProgress },
  { title: "", class: "number", cell: (job) => <JobButtons job={job} /> },
];
