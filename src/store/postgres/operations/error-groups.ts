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
import type { Sql } from "../sql.js";

const IN_TIME = "w.failed_at >= :since::bigint AND w.failed_at < :until::bigint";
const IN_STATE = "(:state::text IS NULL OR w.state = :state)";
const OF_GROUP = "w.handler = g.handler AND w.error_type = g.error_type AND w.error_group = g.error_group";
const NEXT =
  "SELECT w.handler, w.error_type, w.error_group FROM pigeonhole.inbox_work AS w WHERE w.failed_at IS NOT NULL";
const FIRST_OF = "ORDER BY w.handler, w.error_type, w.error_group LIMIT 1";

/**
 * Each group is found with one search in the index, however much work it has. The one after those that are looked at
 * says that there are others.
 */
const FIND_GROUPS = `
  WITH RECURSIVE g AS (
    (${NEXT} AND (:handler::text IS NULL OR w.handler = :handler) ${FIRST_OF})
    UNION ALL
    SELECT n.* FROM g CROSS JOIN LATERAL (
      ${NEXT} AND (:handler::text IS NULL OR w.handler = :handler)
        AND (w.handler, w.error_type, w.error_group) > (g.handler, g.error_type, g.error_group) ${FIRST_OF}
    ) AS n
  ), sought AS (
    SELECT g.*, row_number() OVER () > ${SOUGHT_GROUPS} AS is_other FROM g LIMIT ${SOUGHT_GROUPS + 1}
  ), timed AS (
    SELECT g.*, (
      SELECT max(w.failed_at) FROM pigeonhole.inbox_work AS w WHERE ${OF_GROUP} AND ${IN_TIME} AND ${IN_STATE}
    ) AS last_at
    FROM sought AS g WHERE is_other OR :type::text IS NULL OR g.error_type = :type
  )
  SELECT handler AS "groupHandler", error_type AS "groupType", error_group AS "groupKey", is_other AS "isOther",
    last_at AS "lastAt"
  FROM timed WHERE is_other OR last_at IS NOT NULL ORDER BY last_at DESC, handler, error_type, error_group`;

/** All that failed and fits is read, which is the faster way where each of many groups has little work. */
const FIND_NEWEST = `
  SELECT w.handler AS "groupHandler", w.error_type AS "groupType", w.error_group AS "groupKey",
    max(w.failed_at) AS "lastAt"
  FROM pigeonhole.inbox_work AS w
  WHERE w.failed_at IS NOT NULL AND ${IN_TIME} AND (:handler::text IS NULL OR w.handler = :handler)
    AND (:type::text IS NULL OR w.error_type = :type) AND ${IN_STATE}
  GROUP BY w.handler, w.error_type, w.error_group HAVING max(w.failed_at) <= :fromAt::bigint
  ORDER BY max(w.failed_at) DESC, w.handler, w.error_type, w.error_group LIMIT ${SOUGHT_GROUPS} + :behind::bigint`;

const GIVEN = `
  unnest(:handlers::text[], :types::text[], :keys::text[]) WITH ORDINALITY AS g (handler, error_type, error_group, place)`;
const CHOSEN = `${OF_GROUP} AND ${IN_TIME} AND ${IN_STATE}`;

const COUNT_FAILURES = `
  SELECT g.place, c.* FROM ${GIVEN} CROSS JOIN LATERAL (
    SELECT n.state, n.failed_at / :stepMs::bigint AS step, count(*) AS events, sum(greatest(n.finished, 1)) AS failures,
      min(n.failed_at) AS "firstAt", max(n.failed_at) AS "lastAt"
    FROM (SELECT w.state, w.failed_at, w.finished FROM pigeonhole.inbox_work AS w WHERE ${CHOSEN}
      ORDER BY w.failed_at DESC LIMIT ${COUNTED_EVENTS + 1}) AS n
    GROUP BY n.state, step
  ) AS c`;

const SELECT_EXAMPLES = `
  SELECT g.place, x.* FROM ${GIVEN} CROSS JOIN LATERAL (
    SELECT e.id, w.state, w.reason, w.error FROM pigeonhole.inbox_work AS w
    JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
    WHERE ${CHOSEN} ORDER BY w.failed_at DESC LIMIT ${SOUGHT_EXAMPLES}
  ) AS x`;

/** What failed once has its only failure in the index. */
const SELECT_FIRSTS = `
  SELECT g.place, f.failed_at AS at, left(f.stack, ${FIRST_LENGTH}) AS stack FROM ${GIVEN} CROSS JOIN LATERAL (
    SELECT n.seq, row_number() OVER (ORDER BY n.seq) - 1 AS nth, count(*) OVER () AS total
    FROM (SELECT w.seq, w.finished FROM pigeonhole.inbox_work AS w WHERE ${CHOSEN}
      ORDER BY w.failed_at DESC LIMIT ${COUNTED_EVENTS}) AS n
    WHERE n.finished > 1
  ) AS s CROSS JOIN LATERAL (
    SELECT failed_at, stack FROM pigeonhole.inbox_failed AS k WHERE k.seq = s.seq AND k.handler = g.handler
    ORDER BY k.attempt LIMIT 1
  ) AS f
  WHERE s.nth % ((s.total + ${SOUGHT_FIRST - 1}) / ${SOUGHT_FIRST}) = 0`;

/** Groups of errors, those that failed last first. */
export async function listErrorGroups(sql: Sql, query: ErrorGroupQuery): Promise<ErrorGroupList> {
  const parameters = errorGroupParameters(query);
  const { limit } = parameters;
  const found = await sql.rows<FoundGroup & { isOther: boolean }>(FIND_GROUPS, parameters);
  const isCut = found.some(({ isOther }) => isOther);
  const all = isCut ? await sql.rows<FoundGroup>(FIND_NEWEST, parameters) : found;
  const keys = groupsFrom(all, parameters);
  const seen: SeenGroup[] = [];
  const fits = ({ group }: SeenGroup): boolean => group !== undefined;
  for (let at = 0; at < keys.length && seen.filter(fits).length <= limit; at += limit + 1) {
    seen.push(...(await readGroups(sql, keys.slice(at, at + limit + 1), parameters)));
  }
  return pageOfGroups(seen, parameters);
}

type FoundGroup = ErrorGroupKey & { lastAt: number };

async function readGroups(
  sql: Sql,
  keys: readonly FoundGroup[],
  parameters: ErrorGroupParameters,
): Promise<SeenGroup[]> {
  const ofKeys = (chosen: readonly ErrorGroupKey[]) => ({
    ...parameters,
    handlers: chosen.map(({ groupHandler }) => groupHandler),
    types: chosen.map(({ groupType }) => groupType),
    keys: chosen.map(({ groupKey }) => groupKey),
  });
  const all = await sql.rows<CountedFailures & { place: number }>(COUNT_FAILURES, ofKeys(keys));
  const counted = keys
    .map((key, index) => ({ key, counts: all.filter(({ place }) => place === index + 1) }))
    .filter(({ counts }) => counts.length > 0);
  const values = ofKeys(counted.map(({ key }) => key));
  const examples = await sql.rows<FailureExample & { place: number }>(SELECT_EXAMPLES, values);
  const firsts = await sql.rows<FirstFailure & { place: number }>(SELECT_FIRSTS, values);
  const { stepMs } = parameters;
  const groups = new Map(
    counted.map(({ key, counts }, index) => {
      const ofGroup = <Row extends { place: number }>(rows: Row[]) => rows.filter(({ place }) => place === index + 1);
      return [key, toErrorGroup(key, { counts, examples: ofGroup(examples), firsts: ofGroup(firsts), stepMs })];
    }),
  );
  return keys.map((key) => ({ lastAt: key.lastAt, group: groups.get(key) }));
}
