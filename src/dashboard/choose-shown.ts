import { PageApiError, badField } from "../dev/api/page-api-error.js";
import type { BulkJob, JobChoice } from "../store/bulk-jobs.js";
import { PAGE_LIMIT } from "../store/inbox-view.js";
import type { WorkState } from "../store/work-state.js";
import type { DashboardEvent, PayloadAccess } from "./dashboard-api.js";
import { type EventShowTools, listShownEvents, workWithShownError } from "./shown-events.js";

type Job = Pick<BulkJob, "action" | "choice">;

/** Events that are looked at for one choice. */
const MAX_LOOKED = 5_000;

/**
 * The choice of a job, by errors as the person sees them: without a text to search for, which the store would look for
 * in errors as they are. Throws for one that would change more than was meant.
 */
export async function chooseShown(tools: EventShowTools, job: Job, rule: PayloadAccess): Promise<JobChoice> {
  const { error, ...rest } = job.choice;
  if (error === undefined || rule === "full") return job.choice;
  const states = statesOf(job);
  const found = await findEvents(tools, { job, states, rule });
  const ids = found.map(({ id }) => id);
  const piecesOf = (choice: JobChoice) => found.flatMap((event) => chosenOf(event, choice, states));
  const handlers = new Set(piecesOf(job.choice).map(({ handler }) => handler));
  const [only] = handlers;
  if (handlers.size <= 1) return { ...rest, ids, ...(only === undefined ? {} : { handler: only }) };
  if (piecesOf(rest).length === piecesOf(job.choice).length) return { ...rest, ids };
  throw badField("error", "fits work of several handlers: choose a handler too, or a group of errors.");
}

function statesOf({ action, choice }: Job): readonly WorkState[] {
  if (action === "run") return ["pending"];
  return choice.state === undefined ? ["dead", "parked"] : [choice.state];
}

const chosenOf = (event: DashboardEvent, choice: JobChoice, states: readonly WorkState[]) =>
  workWithShownError(event, choice).filter((each) => states.some((state) => state === each.state));

async function findEvents(
  tools: EventShowTools,
  { job: { choice }, states, rule }: { job: Job; states: readonly WorkState[]; rule: PayloadAccess },
): Promise<DashboardEvent[]> {
  const found = new Map<string, DashboardEvent>();
  let looked = 0;
  for (const state of states) {
    let cursor: string | undefined;
    do {
      const page = await listShownEvents(tools, { ...choice, state, limit: PAGE_LIMIT.default, cursor }, rule);
      for (const event of page.items) if (chosenOf(event, choice, states).length > 0) found.set(event.id, event);
      looked += page.items.length;
      cursor = page.nextCursor;
      if (found.size > PAGE_LIMIT.max || (looked >= MAX_LOOKED && cursor !== undefined)) throw tooMany();
    } while (cursor !== undefined);
  }
  return [...found.values()];
}

function tooMany(): PageApiError {
  const message =
    `The text of errors chooses among ${MAX_LOOKED} events, and ${PAGE_LIMIT.max} of them, at most, for people who may ` +
    "not see payloads in full. Choose a group of errors, a handler, a type or a shorter time.";
  return new PageApiError(400, { code: "too_many_events", message });
}
