import { choiceValues } from "../../error-group-id.js";
import type { JobWork } from "../../bulk-jobs.js";
import type { WorkChoice } from "../../inbox-view.js";
import type { WorkState } from "../../work-state.js";
import { OPEN_WORK } from "./open-work.js";

const OF_EVENT: Partial<Record<keyof WorkChoice, string>> = {
  type: "e.type = :type",
  since: "e.received_at >= :since",
  until: "e.received_at < :until",
  ids: "e.id = ANY(:ids)",
};

const OF_WORK: Partial<Record<keyof JobWork, string>> = {
  state: "state = :state",
  handler: "handler = :handler",
  error: "(position(lower(:error) IN lower(reason)) > 0 OR position(lower(:error) IN lower(error)) > 0)",
  errorGroup:
    "handler = :groupHandler AND error_type = :groupType AND error_group = :groupKey AND failed_at IS NOT NULL",
  failedBy: `NOT (coalesce(w.settled_at, w.failed_at, 0) > :failedBy::bigint
    AND coalesce(w.settled_at, w.failed_at, 0) <= :readAt::bigint)`,
};

const IN_WORK = (conditions: string): string =>
  `EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.seq = e.seq AND ${conditions})`;

type ConditionQuery = Omit<JobWork, "state"> & { state?: WorkState | undefined };

/** The parameters of the conditions. Throws `invalid_argument` for a choice that cannot be. */
export function choiceParameters(query: ConditionQuery): object {
  return { ...query, ...choiceValues(query) };
}

/** The conditions whose field is given. */
function chosen(conditions: Partial<Record<keyof ConditionQuery, string>>, query: ConditionQuery): string[] {
  return Object.entries(conditions)
    .filter(([field]) => query[field as keyof ConditionQuery] !== undefined)
    .map(([, condition]) => condition);
}

/** Conditions on rows of `inbox_work` joined with `inbox_event AS e`. */
export function workConditionsOf(query: ConditionQuery): string[] {
  return [...chosen(OF_WORK, query), ...chosen(OF_EVENT, query)];
}

/** Work that is not done as `w`, joined with its events as `e` only if a condition on these is chosen. */
export function fromWork(query: ConditionQuery): string {
  const join = chosen(OF_EVENT, query).length === 0 ? "" : "JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq";
  return `FROM ${OPEN_WORK} AS w ${join}`;
}

/**
 * FROM and WHERE of the events of a list with numbers below `:before` and not below `:floor`, as `e`, and its order.
 * What only unfinished work fits is found by that work, newest first: there is less of it than of events.
 */
export function fromListed(query: ConditionQuery): string {
  const { state, error, errorGroup } = query;
  const isUnfinished = state === undefined ? error !== undefined || errorGroup !== undefined : state !== "done";
  if (!isUnfinished) {
    const conditions = ["e.seq < :before", "e.seq >= :floor", ...eventConditionsOf(query)];
    return `FROM pigeonhole.inbox_event AS e WHERE ${conditions.join(" AND ")} ORDER BY e.seq DESC LIMIT :most`;
  }
  const conditions = ["w.seq < :before", "w.seq >= :floor", ...workConditionsOf(query)].join(" AND ");
  return `FROM (
      SELECT DISTINCT w.seq ${fromWork(query)} WHERE ${conditions} ORDER BY w.seq DESC LIMIT :most
    ) AS found JOIN pigeonhole.inbox_event AS e ON e.seq = found.seq ORDER BY e.seq DESC`;
}

/** Conditions on rows of `inbox_event AS e`: those of the event, and that a piece of its work fits all others. */
function eventConditionsOf(query: ConditionQuery): string[] {
  const ofEvent = chosen(OF_EVENT, query);
  const ofWork = chosen(OF_WORK, query);
  return ofWork.length === 0 ? ofEvent : [...ofEvent, IN_WORK(ofWork.join(" AND "))];
}
