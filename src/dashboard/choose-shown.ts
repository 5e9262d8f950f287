import type { WorkState } from "../store/state-words.js";
import { PageApiError, badField } from "../web/page-api-error.js";
import { CHANGED_STATES, type JobChoice, type NewJob } from "../store/bulk-jobs.js";
import { PAGE_LIMIT } from "../store/inbox-view.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { PayloadAccess } from "../web/api/session.js";
import type { ListedEvent } from "../web/api/work.js";
import { listShownEvents, workWithShownError } from "../web/shown-events.js";

type Job = Pick<NewJob, "action" | "choice">;

/** How long to look for the events of one choice: a person waits for it. */
export const CHOOSING_MS = { preview: 300, create: 2_000 };

/** Who chooses, and for how long to look. */
interface ChoosingPerson {
  rule: PayloadAccess;
  /** In milliseconds. */
  patienceMs: number;
}

/**
 * The choice of a job, by errors as the person sees them: the text to search for, which the store would look for in
 * errors as they are, only says how the ids were found. Throws for one that would change more than was meant.
 */
export async function chooseShown(
  inbox: Pick<InboxOperator, "listEvents">,
  job: Job,
  person: ChoosingPerson,
): Promise<JobChoice> {
  const { error, ...rest } = job.choice;
  if (error === undefined || person.rule === "full") return job.choice;
  const states = rest.state === undefined ? CHANGED_STATES[job.action] : [rest.state];
  const found = await findEvents(inbox, { job, states, ...person });
  const foundBy = { error, payloads: person.rule, isAmongChosen: job.choice.ids !== undefined };
  const byIds = { ...rest, ids: found.map(({ id }) => id), foundBy };
  const piecesOf = (choice: JobChoice) => found.flatMap((event) => chosenOf(event, choice, states));
  const handlers = new Set(piecesOf(job.choice).map(({ handler }) => handler));
  const [only] = handlers;
  if (handlers.size <= 1) return { ...byIds, ...(only === undefined ? {} : { handler: only }) };
  if (piecesOf(rest).length === piecesOf(job.choice).length) return byIds;
  throw badField("error", "fits work of several handlers: choose a handler too, or a group of errors.");
}

const chosenOf = (event: ListedEvent, choice: JobChoice, states: readonly WorkState[]) =>
  states.flatMap((state) => workWithShownError(event, { ...choice, state }));

async function findEvents(
  inbox: Pick<InboxOperator, "listEvents">,
  { job: { choice }, states, patienceMs, rule }: ChoosingPerson & { job: Job; states: readonly WorkState[] },
): Promise<ListedEvent[]> {
  const found = new Map<string, ListedEvent>();
  const until = performance.now() + patienceMs;
  for (const state of states) {
    let cursor: string | null = null;
    do {
      const page = await listShownEvents(inbox, { ...choice, state, cursor }, rule);
      for (const event of page.items) if (chosenOf(event, choice, states).length > 0) found.set(event.id, event);
      cursor = page.nextCursor;
      if (found.size > PAGE_LIMIT.max || (performance.now() >= until && cursor !== null)) throw tooMany();
    } while (cursor !== null);
  }
  return [...found.values()];
}

function tooMany(): PageApiError {
  const message =
    "There are too many events to look for a text in their errors, or more than " +
    `${PAGE_LIMIT.max} of them have it. Choose a group of errors, a handler, a type or a shorter time.`;
  return new PageApiError(400, { code: "too_many_events", message });
}
