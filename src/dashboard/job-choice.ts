import { BodyFields } from "../web/body-fields.js";
import { badField } from "../web/page-api-error.js";
import { readFilters } from "../operator/filter-reader.js";
import { WORK_FILTERS } from "../store/filters.js";
import { isoTime } from "../base/iso-time.js";
import { CHANGED_STATES, type JobChoice } from "../store/bulk-jobs.js";
import { MAX_CHOSEN } from "../web/api/work.js";
import type { JobFilter } from "../web/api/jobs.js";
import { type PayloadAccess, PAYLOAD_ACCESS } from "../web/api/session.js";
import { HIDDEN_TEXT } from "../web/show-error.js";

/** Of a name, a type or a text to search for. */
const MAX_TEXT_LENGTH = 500;
/** Of a group of errors, which has a handler and a type in it. */
const MAX_GROUP_LENGTH = 2_000;
/** Of an event, with the name of its source. */
const MAX_ID_LENGTH = 300;

/** The choice of a job, as the page names it. Throws for what no job can change. */
export function readJobChoice(filter: Record<string, unknown>): JobChoice {
  const known = new Set([...Object.keys(WORK_FILTERS), "state", "ids"]);
  const unknown = Object.keys(filter).find((name) => !known.has(name));
  // A job with less of a filter than was meant would change too much.
  if (unknown !== undefined) throw badField("filter", "has a field that no job knows.");
  const fields = new BodyFields(filter);
  const text = (name: string): string | undefined => {
    const value = fields.text(name, name === "errorGroup" ? MAX_GROUP_LENGTH : MAX_TEXT_LENGTH);
    return value === "" && name !== "handler" && name !== "type" ? undefined : value;
  };
  return withoutUndefined({
    state: fields.choice("state", Object.values(CHANGED_STATES).flat()),
    ...readFilters(WORK_FILTERS, text, badField),
    ids: fields.texts("ids", { most: MAX_CHOSEN, longest: MAX_ID_LENGTH }),
  });
}

/** The choice of a stored job, for the page. */
export function showJobChoice(choice: JobChoice, rule: PayloadAccess): JobFilter {
  const { error = choice.foundBy?.error, foundBy, since, until, errorGroup, ids, ...rest } = choice;
  return withoutUndefined({
    ...rest,
    error: error === null || error === undefined || maySeeSought(choice, rule) ? (error ?? undefined) : HIDDEN_TEXT,
    isErrorErased: error === null ? true : undefined,
    since: isoTime(since) ?? undefined,
    until: isoTime(until) ?? undefined,
    isGroup: errorGroup === undefined ? undefined : true,
    chosen: foundBy === undefined || foundBy.isAmongChosen ? ids?.length : undefined,
  });
}

/** A text that errors have as they were shown to one person is nothing new to another one who is shown as much. */
function maySeeSought({ foundBy, ids }: JobChoice, rule: PayloadAccess): boolean {
  if (rule === "full") return true;
  const isInErrors = foundBy !== undefined && ids !== undefined && ids.length > 0;
  return isInErrors && PAYLOAD_ACCESS.indexOf(rule) >= PAYLOAD_ACCESS.indexOf(foundBy.payloads);
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Value;
}
