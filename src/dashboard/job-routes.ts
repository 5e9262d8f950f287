import { isoTime } from "../base/iso-time.js";
import { requireField } from "../dev/api/body-fields.js";
import { PageApiError } from "../dev/api/page-api-error.js";
import { type BulkJob, JOB_ACTIONS } from "../store/bulk-jobs.js";
import type { ActionLog } from "./action-log.js";
import type { BulkJobList, BulkJobRow, JobPreview } from "./dashboard-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { DashboardCall, DashboardRoute } from "./dashboard-route.js";
import type { JobRunner } from "./job-runner.js";
import { readJobChoice, showJobChoice } from "./job-choice.js";

/** What the routes of jobs work with. */
export interface JobRouteTools {
  operator: () => InboxOperator;
  jobs: Pick<JobRunner, "kick">;
  log: ActionLog;
}

/** Changes of much work. */
export function jobRoutes({ operator, jobs, log }: JobRouteTools): DashboardRoute[] {
  return [
    {
      method: "GET",
      path: "/api/jobs",
      needs: "read",
      async handle(): Promise<BulkJobList> {
        return { jobs: (await operator().listJobs()).map(jobRow) };
      },
    },
    {
      method: "POST",
      path: "/api/jobs/preview",
      needs: "operate",
      handle: (call): Promise<JobPreview> => operator().countJob(readJob(call)),
    },
    {
      method: "POST",
      path: "/api/jobs",
      needs: "operate",
      async handle(call): Promise<BulkJobRow> {
        const job = await operator().createJob({ ...readJob(call), by: call.person.name });
        log.note(call.person, "create_job", { job: job.id, jobAction: job.action });
        jobs.kick();
        return jobRow(job);
      },
    },
    {
      method: "POST",
      path: "/api/jobs/{id}/cancel",
      needs: "operate",
      async handle({ id, person }): Promise<BulkJobRow> {
        log.note(person, "cancel_job", { job: id });
        await operator().cancelJob(id);
        const job = await operator().getJob(id);
        if (job !== undefined) return jobRow(job);
        throw new PageApiError(404, { code: "not_found", message: "There is no job with this id." });
      },
    },
  ];
}

function readJob({ body }: DashboardCall) {
  const action = requireField("action", body.choice("action", JOB_ACTIONS));
  return { action, choice: readJobChoice(requireField("filter", body.record("filter"))) };
}

/** A job as the page shows it. */
export function jobRow({ choice, createdAt, endedAt, error, ...job }: BulkJob): BulkJobRow {
  return {
    ...job,
    filter: showJobChoice(choice),
    createdAt: isoTime(createdAt),
    endedAt: isoTime(endedAt),
    error: error ?? null,
  };
}
