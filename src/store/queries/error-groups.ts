import type { ErrorGroupKey } from "../error-group-id.js";
import { type SeenGroup, groupsFrom, pageOfGroups } from "../error-group-page.js";
import {
  COUNTED_EVENTS,
  type CountedFailures,
  type ErrorGroup,
  type ErrorGroupList,
  type ErrorGroupParameters,
  type ErrorGroupQuery,
  type FailureExample,
  SOUGHT_EXAMPLES,
  SOUGHT_GROUPS,
  errorGroupParameters,
  toErrorGroup,
} from "../error-groups.js";
import { type StoreQuery, readRows } from "./store-query.js";

const WORK = "pigeonhole.failed_work AS w";
const KEY = "w.handler, w.error_type, w.error_group";
const IN_TIME = "w.failed_at IS NOT NULL AND w.failed_at >= :since::bigint AND w.failed_at < :until::bigint";
const STATE = "CASE w.state WHEN 'pending' THEN 'retrying' WHEN 'leased' THEN 'running' ELSE w.state END";
const IN_STATE = `(:state::text IS NULL OR ${STATE} = :state)`;

type FoundGroup = ErrorGroupKey & { lastAt: number };

/**
 * Each group is found with one search in the index, however much work it has. The one after those that are looked at
 * says that there are others.
 */
function findEachGroup(ofHandler: string): string {
  const nextAfter = (key: string): string =>
    `SELECT json_build_array(${KEY}) FROM ${WORK}
     WHERE w.failed_at IS NOT NULL AND (${KEY}) > (${key}) ${ofHandler} ORDER BY ${KEY} LIMIT 1`;
  return `
    WITH RECURSIVE g (k) AS (
      SELECT (${nextAfter("coalesce(:handler::text, ''), '', ''")})
      UNION ALL SELECT (${nextAfter("g.k ->> 0, g.k ->> 1, g.k ->> 2")}) FROM g WHERE g.k IS NOT NULL
    ), sought AS (
      SELECT k ->> 0 AS handler, k ->> 1 AS type, k ->> 2 AS key FROM g WHERE k IS NOT NULL LIMIT ${SOUGHT_GROUPS + 1}
    )
    SELECT handler AS "groupHandler", type AS "groupType", key AS "groupKey",
      CASE WHEN :type::text IS NULL OR type = :type THEN (
        SELECT max(w.failed_at) FROM ${WORK}
        WHERE w.handler = sought.handler AND w.error_type = sought.type AND w.error_group = sought.key AND ${IN_TIME}
      ) END AS "lastAt"
    FROM sought`;
}

/** All that failed and fits is read, which is the faster way where each of many groups has little work. */
const FIND_NEWEST = `
  SELECT w.handler AS "groupHandler", w.error_type AS "groupType", w.error_group AS "groupKey",
    max(w.failed_at) AS "lastAt"
  FROM ${WORK}
  WHERE ${IN_TIME} AND ${IN_STATE} AND (:handler::text IS NULL OR w.handler = :handler)
    AND (:type::text IS NULL OR w.error_type = :type)
  GROUP BY ${KEY} HAVING max(w.failed_at) <= :fromAt::bigint
  ORDER BY max(w.failed_at) DESC, ${KEY} LIMIT ${SOUGHT_GROUPS} + :behind::bigint`;

const OF_GROUP = `
  w.handler = :groupHandler AND w.error_type = :groupType AND w.error_group = :groupKey AND ${IN_TIME} AND ${IN_STATE}`;

const COUNT_FAILURES = `
  SELECT c.*, e.received_at AS "firstAt" FROM (
    SELECT n.state, n.failed_at / CAST(:stepMs AS bigint) AS step, count(*) AS events,
      sum(greatest(n.finished, 1)) AS failures, min(n.seq) AS seq, max(n.failed_at) AS "lastAt"
    FROM (SELECT w.seq, ${STATE} AS state, w.failed_at, w.finished FROM ${WORK} WHERE ${OF_GROUP}
      ORDER BY w.failed_at DESC LIMIT ${COUNTED_EVENTS + 1}) AS n
    GROUP BY 1, 2
  ) AS c JOIN pigeonhole.inbox_event AS e ON e.seq = c.seq`;

const SELECT_EXAMPLES = `
  SELECT e.id, ${STATE} AS state, w.reason, w.error FROM ${WORK} JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
  WHERE ${OF_GROUP} ORDER BY w.failed_at DESC LIMIT ${SOUGHT_EXAMPLES}`;

/** Groups of errors, those that failed last first. */
export function* listErrorGroups(query: ErrorGroupQuery): StoreQuery<ErrorGroupList> {
  const parameters = errorGroupParameters(query);
  const seen: SeenGroup[] = [];
  let fitting = 0;
  for (const found of groupsFrom(yield* findGroups(parameters), parameters)) {
    const group = yield* readGroup(found, parameters);
    seen.push({ lastAt: found.lastAt, group });
    if (group !== undefined && ++fitting > parameters.limit) break;
  }
  return pageOfGroups(seen, parameters);
}

/** Those of one state, and those of very many, are found by reading all that failed. */
function* findGroups(parameters: ErrorGroupParameters): StoreQuery<FoundGroup[]> {
  if (parameters.state !== null) return yield* readRows<FoundGroup>(FIND_NEWEST, parameters);
  const ofHandler = parameters.handler === null ? "" : "AND w.handler = :handler";
  const found = yield* readRows<ErrorGroupKey & { lastAt: number | null }>(findEachGroup(ofHandler), parameters);
  if (found.length > SOUGHT_GROUPS) return yield* readRows<FoundGroup>(FIND_NEWEST, parameters);
  return found
    .flatMap(({ lastAt, ...key }) => (lastAt === null ? [] : [{ ...key, lastAt }]))
    .toSorted((one, other) => other.lastAt - one.lastAt);
}

function* readGroup(key: ErrorGroupKey, parameters: ErrorGroupParameters): StoreQuery<ErrorGroup | undefined> {
  const values = { ...parameters, ...key };
  const counts = yield* readRows<CountedFailures>(COUNT_FAILURES, values);
  const examples = yield* readRows<FailureExample>(SELECT_EXAMPLES, values);
  return toErrorGroup(key, { counts, examples, stepMs: parameters.stepMs });
}
