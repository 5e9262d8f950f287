import { BodyFields, requireField } from "../web/body-fields.js";
import { PageApiError, badField } from "../web/page-api-error.js";
import { readFilters } from "../operator/filter-reader.js";
import { type BulkJob, CHANGED_STATES, JOB_ACTIONS, JOB_CHANGES, type JobChoice } from "../store/bulk-jobs.js";
import { WORK_FILTERS } from "../store/filters.js";
import type { BulkJobList } from "./job-body.js";
import { MAX_CHOSEN } from "../web/api/event.js";
import type { PayloadAccess } from "../web/api/session.js";
import type { RunCounts } from "../store/inbox-operator.js";
import type { WebCall, WebRoute } from "../web/web-route.js";
import type { JobRunner } from "./job-runner.js";
import type { InboxTools } from "../web/inbox-tools.js";
import { HIDDEN_TEXT } from "../web/show-error.js";

type JobTools = InboxTools & { jobs: Pick<JobRunner, "kick"> };

/** Changes of much work. */
export function jobRoutes({ operator, readings, personal, jobs, log }: JobTools): WebRoute[] {
  const readJob = ({ body, person: { payloads: rule } }: WebCall) => {
    const action = requireField("action", body.choice("action", JOB_ACTIONS));
    const choice = readJobChoice(requireField("filter", body.record("filter")));
    // It would tell what is hidden of errors, by how many have a text.
    if (choice.error !== undefined && rule !== "full") throw badField("error", "is for people who see all of errors.");
    return { action, choice: personal.withErrorGroupId(choice, rule) };
  };
  return [
    {
      at: "GET /api/jobs",
      quotes: true,
      async handle({ person: { payloads } }): Promise<BulkJobList> {
        return { jobs: (await readings.listJobs()).map((job) => showJob(job, payloads)) };
      },
    },
    {
      at: "POST /api/jobs/preview",
      handle(call): Promise<RunCounts> {
        const { action, choice } = readJob(call);
        return operator().countWork(action, choice);
      },
    },
    {
      at: "POST /api/jobs",
      async handle(call): Promise<BulkJob> {
        const job = await operator().createJob({ ...readJob(call), by: call.person.name });
        log.note(call.person, "create_job", { job: job.id, jobAction: job.action });
        jobs.kick();
        return showJob(job, call.person.payloads);
      },
    },
    ...JOB_CHANGES.map((change): WebRoute => ({
      at: `POST /api/jobs/{id}/${change}`,
      async handle({ id, person }): Promise<BulkJob> {
        log.note(person, `${change}_job`, { job: id });
        await operator().changeJob(change, id);
        jobs.kick();
        const job = await operator().getJob(id);
        if (job !== undefined) return showJob(job, person.payloads);
        throw new PageApiError(404, { code: "not_found", message: "There is no job with this id." });
      },
    })),
  ];
}

/** Of a name, a type or a text to search for. */
const MAX_TEXT_LENGTH = 500;
/** Of a group of errors, which has a handler and a type in it. */
const MAX_GROUP_LENGTH = 2_000;
/** Of an event, with the name of its source. */
const MAX_ID_LENGTH = 300;

/** The choice of a job, as the page names it. Throws for what no job can change. */
function readJobChoice(filter: Record<string, unknown>): JobChoice {
  const known = new Set([...Object.keys(WORK_FILTERS), "state", "ids"]);
  const unknown = Object.keys(filter).find((name) => !known.has(name));
  // A job with less of a filter than was meant would change too much.
  if (unknown !== undefined) throw badField("filter", "has a field that no job knows.");
  const fields = new BodyFields(filter);
  const text = (name: string): string | undefined => {
    const value = fields.text(name, name === "errorGroup" ? MAX_GROUP_LENGTH : MAX_TEXT_LENGTH);
    return value === "" && name !== "handler" && name !== "type" ? undefined : value;
  };
  return {
    state: fields.choice("state", Object.values(CHANGED_STATES).flat()),
    ...readFilters(WORK_FILTERS, text, badField),
    ids: fields.texts("ids", { most: MAX_CHOSEN, longest: MAX_ID_LENGTH }),
  };
}

/** A job as a person with this access may see it. */
export function showJob(job: BulkJob, rule: PayloadAccess): BulkJob {
  const { error, errorGroup } = job.filter;
  const shownError = error === null || rule === "full" ? error : HIDDEN_TEXT;
  return { ...job, filter: { ...job.filter, error: shownError, errorGroup: errorGroup && HIDDEN_TEXT } };
}
