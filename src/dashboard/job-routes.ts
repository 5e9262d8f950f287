import { requireField } from "../web/body-fields.js";
import { PageApiError } from "../web/page-api-error.js";
import { type BulkJob, JOB_ACTIONS } from "../store/bulk-jobs.js";
import type { ActionLog } from "../web/action-log.js";
import { CHOOSING_MS, chooseShown } from "./choose-shown.js";
import { type BulkJobList, type BulkJobRow, JOB_CHANGES, type JobPreview } from "../web/api/jobs.js";
import type { PayloadAccess } from "../web/api/session.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { InboxCall, InboxRoute } from "../web/inbox-route.js";
import type { JobRunner } from "./job-runner.js";
import type { PersonalData } from "../web/personal-data.js";
import { readJobChoice, showJobChoice } from "./job-choice.js";
import type { SharedReadings } from "../web/shared-readings.js";

/** What the routes of jobs work with. */
export interface JobRouteTools {
  operator: () => InboxOperator;
  readings: Pick<SharedReadings, "listJobs">;
  personal: PersonalData;
  jobs: Pick<JobRunner, "kick">;
  log: ActionLog;
}

/** Changes of much work. */
export function jobRoutes(tools: JobRouteTools): InboxRoute[] {
  const { operator, readings, personal, jobs, log } = tools;
  const readJob = async ({ body, person: { payloads: rule } }: InboxCall, patienceMs: number) => {
    const action = requireField("action", body.choice("action", JOB_ACTIONS));
    const filter = readJobChoice(requireField("filter", body.record("filter")));
    const choice = personal.withErrorGroupId(filter, rule);
    return { action, choice: await chooseShown(operator(), { action, choice }, { rule, patienceMs }) };
  };
  return [
    {
      method: "GET",
      path: "/api/jobs",
      needs: "read",
      quotes: true,
      async handle({ person: { payloads } }): Promise<BulkJobList> {
        return { jobs: (await readings.listJobs()).map((job) => jobRow(job, payloads)) };
      },
    },
    {
      method: "POST",
      path: "/api/jobs/preview",
      needs: "operate",
      async handle(call): Promise<JobPreview> {
        const { action, choice } = await readJob(call, CHOOSING_MS.preview);
        return operator().countWork(action, choice);
      },
    },
    {
      method: "POST",
      path: "/api/jobs",
      needs: "operate",
      async handle(call): Promise<BulkJobRow> {
        const job = await operator().createJob({ ...(await readJob(call, CHOOSING_MS.create)), by: call.person.name });
        log.note(call.person, "create_job", { job: job.id, jobAction: job.action });
        jobs.kick();
        return jobRow(job, call.person.payloads);
      },
    },
    ...JOB_CHANGES.map((change): InboxRoute => ({
      method: "POST",
      path: `/api/jobs/{id}/${change}`,
      needs: "operate",
      async handle({ id, person }): Promise<BulkJobRow> {
        log.note(person, `${change}_job`, { job: id });
        await operator().changeJob(change, id);
        jobs.kick();
        const job = await operator().getJob(id);
        if (job !== undefined) return jobRow(job, person.payloads);
        throw new PageApiError(404, { code: "not_found", message: "There is no job with this id." });
      },
    })),
  ];
}

/** A job as the page shows it to a person with this access. */
export function jobRow({ choice, ...job }: BulkJob, rule: PayloadAccess): BulkJobRow {
  return { ...job, filter: showJobChoice(choice, rule) };
}
