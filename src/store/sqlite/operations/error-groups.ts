import type { Database } from "better-sqlite3";
import type { ErrorGroupKey } from "../../error-group-id.js";
import { type SeenGroup, groupsFrom, pageOfGroups } from "../../error-group-page.js";
import {
  COUNTED_EVENTS,
  type CountedFailures,
  type ErrorGroupList,
  type ErrorGroupParameters,
  type ErrorGroupQuery,
  type FailureExample,
  SOUGHT_EXAMPLES,
  SOUGHT_GROUPS,
  errorGroupParameters,
  toErrorGroup,
} from "../../error-groups.js";
import { FIRST_LENGTH, type FirstFailure, SOUGHT_FIRST } from "../../first-failure.js";

const INDEX = "INDEXED BY inbox_work_failed";
const GROUP = "handler = :groupHandler AND error_type = :groupType AND error_group = :groupKey";
const IN_TIME = "failed_at IS NOT NULL AND failed_at >= :since AND failed_at < :until";

type Found = ErrorGroupKey & { lastAt: number };

/**
 * Finds each group with one search in the index, however much work it has; those of one state, and those of very many,
 * by reading it all, the newest first.
 */
function prepareFindGroups(db: Database) {
  const selectNext = db.prepare<ErrorGroupKey, ErrorGroupKey>(`
    SELECT handler AS groupHandler, error_type AS groupType, error_group AS groupKey FROM inbox_work ${INDEX}
    WHERE failed_at IS NOT NULL AND (handler, error_type, error_group) > (:groupHandler, :groupType, :groupKey)
    ORDER BY handler, error_type, error_group LIMIT 1`);
  const selectLast = db
    .prepare<object, number | null>(`SELECT max(failed_at) FROM inbox_work ${INDEX} WHERE ${GROUP} AND ${IN_TIME}`)
    .pluck();

  // Where most groups do not fit, or each has little work, one reading of the index is faster than one for each.
  const selectNewest = db.prepare<ErrorGroupParameters, Found>(`
    SELECT handler AS groupHandler, error_type AS groupType, error_group AS groupKey, max(failed_at) AS lastAt
    FROM inbox_work ${INDEX}
    WHERE ${IN_TIME} AND (:state IS NULL OR state = :state) AND (:handler IS NULL OR handler = :handler)
      AND (:type IS NULL OR error_type = :type)
    GROUP BY handler, error_type, error_group HAVING lastAt <= :fromAt
    ORDER BY lastAt DESC, handler, error_type, error_group LIMIT ${SOUGHT_GROUPS} + CAST(:behind AS INTEGER)`);

  return (query: ErrorGroupParameters): Found[] => {
    if (query.state !== null) return selectNewest.all(query);
    const found: Found[] = [];
    let after: ErrorGroupKey | undefined = { groupHandler: query.handler ?? "", groupType: "", groupKey: "" };
    for (let sought = 0; ; sought += 1) {
      after = selectNext.get(after);
      if (after === undefined || (query.handler !== null && after.groupHandler !== query.handler)) break;
      if (sought === SOUGHT_GROUPS) return selectNewest.all(query);
      if (query.type !== null && after.groupType !== query.type) continue;
      const lastAt = selectLast.get({ ...query, ...after });
      if (typeof lastAt === "number") found.push({ ...after, lastAt });
    }
    return found.toSorted((a, b) => b.lastAt - a.lastAt);
  };
}

/** Lists groups of errors, those that failed last first. */
export function prepareListErrorGroups(db: Database) {
  const findGroups = prepareFindGroups(db);
  const of = `${GROUP} AND ${IN_TIME} AND (:state IS NULL OR state = :state)`;
  const countFailures = db.prepare<object, CountedFailures>(`
    SELECT state, failed_at / CAST(:stepMs AS INTEGER) AS step, count(*) AS events, sum(max(finished, 1)) AS failures,
      min(failed_at) AS firstAt, max(failed_at) AS lastAt
    FROM (SELECT state, failed_at, finished FROM inbox_work ${INDEX} WHERE ${of}
      ORDER BY failed_at DESC LIMIT ${COUNTED_EVENTS + 1})
    GROUP BY 1, 2`);
  const selectExamples = db.prepare<object, FailureExample>(`
    SELECT e.id, w.state, w.reason, w.error FROM inbox_work AS w ${INDEX} JOIN inbox_event AS e ON e.seq = w.seq
    WHERE ${of} ORDER BY failed_at DESC LIMIT ${SOUGHT_EXAMPLES}`);
  // What failed once has its only failure in the index.
  const selectFirsts = db.prepare<object, FirstFailure>(`
    SELECT f.failed_at AS at, substr(f.stack, 1, ${FIRST_LENGTH}) AS stack
    FROM (
      SELECT seq, row_number() OVER (ORDER BY seq) - 1 AS place, count(*) OVER () AS total
      FROM (SELECT seq, finished FROM inbox_work ${INDEX} WHERE ${of} ORDER BY failed_at DESC LIMIT ${COUNTED_EVENTS})
      WHERE finished > 1
    ) AS n JOIN inbox_failed AS f ON f.seq = n.seq AND f.handler = :groupHandler
    WHERE n.place % ((n.total + ${SOUGHT_FIRST - 1}) / ${SOUGHT_FIRST}) = 0
      AND f.attempt = (SELECT min(attempt) FROM inbox_failed WHERE seq = n.seq AND handler = :groupHandler)`);

  return (query: ErrorGroupQuery): ErrorGroupList => {
    const parameters = errorGroupParameters(query);
    const { limit, stepMs } = parameters;
    const seen: SeenGroup[] = [];
    let fitting = 0;
    for (const key of groupsFrom(findGroups(parameters), parameters)) {
      const values = { ...parameters, ...key };
      const group = toErrorGroup(key, {
        counts: countFailures.all(values),
        examples: selectExamples.all(values),
        firsts: selectFirsts.all(values),
        stepMs,
      });
      seen.push({ lastAt: key.lastAt, group });
      if (group !== undefined && ++fitting > limit) break;
    }
    return pageOfGroups(seen, parameters);
  };
}
