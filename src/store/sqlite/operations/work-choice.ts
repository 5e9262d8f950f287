import { choiceValues } from "../../error-group-id.js";
import type { JobWork } from "../../bulk-jobs.js";
import type { WorkChoice } from "../../inbox-view.js";
import type { WorkState } from "../../work-state.js";
import { OPEN } from "./open-work.js";

type Conditions<Field extends keyof JobWork> = Readonly<Record<Field, string>>;

const OF_WORK: Conditions<"handler" | "error" | "errorGroup" | "failedBy"> = {
  handler: "handler = :handler",
  error: "(instr(lower(reason), lower(:error)) > 0 OR instr(lower(error), lower(:error)) > 0)",
  errorGroup:
    "handler = :groupHandler AND error_type = :groupType AND error_group = :groupKey AND failed_at IS NOT NULL",
  failedBy: "NOT (coalesce(settled_at, failed_at, 0) > :failedBy AND coalesce(settled_at, failed_at, 0) <= :readAt)",
};

const OF_EVENT: Conditions<"type" | "since" | "until" | "ids"> = {
  type: "type = :type",
  since: "received_at >= :since",
  until: "received_at < :until",
  ids: "id IN (SELECT value FROM json_each(:ids))",
};

function chosen(conditions: Partial<Record<keyof JobWork, string>>, choice: JobWork): string[] {
  return Object.entries(conditions)
    .filter(([field]) => choice[field as keyof JobWork] !== undefined)
    .map(([, condition]) => condition);
}

/** The parameters of the conditions. Throws `invalid_argument` for a choice that cannot be. */
export function bindChoice(choice: WorkChoice): object {
  const { ids, ...values } = choiceValues(choice);
  return { ...choice, ...values, ids: ids === undefined ? undefined : JSON.stringify(ids) };
}

/** Conditions on rows of `inbox_work` joined with `inbox_event`; their parameters have the names of the fields. */
export function chosenWork(choice: JobWork): string[] {
  return [...chosen(OF_WORK, choice), ...chosen(OF_EVENT, choice)];
}

/** Rows of `inbox_work` as `w`, joined with their events as `e` only if a condition on these is chosen. */
export function fromChosenWork(choice: JobWork): string {
  const join = chosen(OF_EVENT, choice).length === 0 ? "" : "JOIN inbox_event AS e ON e.seq = w.seq";
  return `FROM inbox_work AS w ${join}`;
}

/** Conditions on rows of `inbox_event`: those of the event, and that a piece of its work fits all of the others. */
export function eventConditions({ state, ...choice }: WorkChoice & { state?: WorkState | undefined }): string[] {
  const ofEvent = chosen(OF_EVENT, choice);
  const ofWork = chosen(OF_WORK, choice);
  if (state === undefined && ofWork.length === 0) return ofEvent;
  const isOpen = state === undefined ? [] : state === "done" ? ["state = 'done'"] : [OPEN, "state = :state"];
  // Of the events that are read, the work of each is read where most have such work; otherwise all such work is.
  const isRare =
    (state !== undefined && state !== "done") || choice.error !== undefined || choice.errorGroup !== undefined;
  const conditions = [...isOpen, ...ofWork].join(" AND ");
  const ofThese = "inbox_work.seq = inbox_event.seq";
  const work =
    isRare && choice.ids === undefined
      ? `seq IN (SELECT seq FROM inbox_work WHERE ${conditions})`
      : `EXISTS (SELECT 1 FROM inbox_work WHERE ${ofThese} AND ${conditions})`;
  return [...ofEvent, work];
}
