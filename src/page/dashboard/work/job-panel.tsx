import { useEffect } from "preact/hooks";
import { escapeControls } from "../../../base/text.js";
import { Empty } from "../../ui/empty.js";
import { formatExactTime, formatTime } from "../../ui/format.js";
import { mayOperate } from "../state/dashboard-session.js";
import { jobs, loadJobs, stopJob } from "../state/jobs.js";
import { DataTable } from "../ui/data-table.js";
import { describeJob, describeProgress } from "../ui/describe-job.js";
import { describeJobFilter } from "../ui/describe-job-filter.js";

/** Jobs, those that have ended included. */
export function JobPanel() {
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
