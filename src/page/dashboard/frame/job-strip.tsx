import { escapeControls } from "../../../base/text.js";
import type { BulkJobRow } from "../../../web/api/jobs.js";
import { IconButton } from "../../ui/icon-button.js";
import { closeJob, shownJobs } from "../state/jobs.js";
import { now } from "../../state/now.js";
import { JobButtons } from "../ui/job-buttons.js";
import { describeJob, describeProgress } from "../ui/describe-job.js";

/** How far jobs are. They go on without this page. */
export function JobStrip() {
  if (shownJobs.value.length === 0) return null;
  return (
    <section class="job-strip" aria-label="Jobs">
      {shownJobs.value.map((job) => (
        <JobLine key={job.id} job={job} />
      ))}
    </section>
  );
}

function JobLine({ job }: { job: BulkJobRow }) {
  const { id, total, done, skipped, state, by, paused } = job;
  const words = describeJob(job);
  return (
    <div class="job">
      <span class="job-words" role="status">
        {words}
      </span>
      <progress
        aria-label={words}
        max={Math.max(1, total)}
        value={state === "done" ? Math.max(1, total) : done + skipped}
      />
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
