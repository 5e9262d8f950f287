import { HISTORIES, planHistory } from "../../queries/history.js";
import type { LeasePage, LeaseRequest } from "../../store.js";
import { type Lease, type LeasedRow, toLeasedWork } from "../../work.js";
import type { LeaseHolder } from "./recover.js";
import type { Sql } from "../sql.js";
import { endWaits } from "./keys.js";
import { LEASES, SELECT_HOLDING, givenRows, listsOf, notLeased } from "./given-rows.js";
import { SERVER_TIME } from "../database-clock.js";

/** How many processes died in the work: none, one, or two and more. The value of the index expression. */
type Crashes = 0 | 1 | 2;

/** When the first work with each number of crashes is due, and whether there is some that waits for its key. */
const SELECT_DUES = `
  SELECT crashes, (
    SELECT due_at FROM pigeonhole.inbox_work
    WHERE state = 'pending' AND NOT waits_for_key AND handler = :handler AND least(started - finished, 2) = crashes
    ORDER BY due_at LIMIT 1) AS "dueAt",
    EXISTS (SELECT 1 FROM pigeonhole.inbox_work WHERE waits_for_key AND handler = :handler) AS "waitsForKey",
    (SELECT max(due_at) FROM pigeonhole.inbox_work
     WHERE state = 'pending' AND wait_holds = 'handler' AND waits_since IS NOT NULL AND handler = :handler
       AND due_at > :now) AS "heldUntil",
    EXISTS (SELECT 1 FROM pigeonhole.inbox_job WHERE ${HISTORIES}) AS "hasHistory"
  FROM (VALUES (0), (1), (2)) AS c (crashes)`;

/** Rows that another process is leasing at the moment are passed over. */
const LEASE = `
  WITH due AS (
    SELECT w.seq, w.due_at, e.body_length
    FROM pigeonhole.inbox_work AS w JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq
    WHERE w.state = 'pending' AND NOT w.waits_for_key AND w.handler = :handler
      AND least(w.started - w.finished, 2) = :crashes AND w.due_at <= :now
      AND EXISTS (SELECT 1 FROM pigeonhole.inbox_body AS b WHERE b.seq = w.seq)
    ORDER BY w.due_at, w.seq LIMIT :limit FOR UPDATE OF w SKIP LOCKED
  ), page AS (
    SELECT seq, due_at, row_number() OVER before AS place,
      coalesce(sum(body_length) OVER (before ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes
    FROM due WINDOW before AS (ORDER BY due_at, seq)
  ), leased AS (
    UPDATE pigeonhole.inbox_work AS w
    SET state = 'leased', lease = :token, lease_until = :leaseUntil, process = :process, due_at = NULL, waits_since = NULL,
      started = w.started + 1
    FROM page WHERE w.seq = page.seq AND w.handler = :handler AND (page.place = 1 OR page.bytes < :maxBytes)
    RETURNING w.seq, w.started, w.finished, w.waits, w.wait_began, page.due_at, page.place
  )
  SELECT l.seq, e.id AS "eventId", e.received_at AS "receivedAt",
    e.signed_at AS "signedAt", l.due_at AS "dueAt", l.started, l.finished, l.waits,
    l.wait_began AS "waitBegan", b.body, b.trace
  FROM leased AS l JOIN pigeonhole.inbox_event AS e ON e.seq = l.seq JOIN pigeonhole.inbox_body AS b ON b.seq = l.seq
  ORDER BY l.place`;

/**
 * Leases a page of due work for one handler. Work that one process died in is returned first, without other work and in
 * small pages, so that the next crash shows which event causes it; crash-looping work, which two processes died in, is
 * returned one piece at a time.
 */
export async function leaseWork(sql: Sql, holder: LeaseHolder, request: LeaseRequest): Promise<LeasePage> {
  const { now, history = 0 } = request;
  const { dues: before, waitsForKey, heldUntil, hasHistory } = await readDuesWithFreed(sql, request);
  if (heldUntil !== undefined) return { work: [], nextDueAt: heldUntil, heldUntil };
  const isDue = [...before.values()].some((due) => due <= now);
  // Work that waits for its key goes before history too.
  const mayPlan = hasHistory && !waitsForKey && (history === 0 || !isDue);
  const waiting = { ...(waitsForKey && { waitsForKey }), ...(mayPlan && { hasHistory }) };
  if (history > 0 && mayPlan) {
    return { nextDueAt: firstOf(before), ...(await leaseHistory(sql, holder, { ...request, limit: history })) };
  }
  const limits: [Crashes, number][] = [
    [2, request.allowCrashLooping ? 1 : 0],
    [1, request.crashedLimit],
    // What other processes have left may be history too: it must not gather here, or new events would wait for it.
    [0, hasHistory ? Math.min(request.limit, history) : request.limit],
  ];
  for (const [crashes, limit] of limits) {
    if (limit <= 0 || (before.get(crashes) ?? Infinity) > now) continue;
    const work = await readLeased(sql, holder, { ...request, limit }, crashes);
    if (work.length === 0) continue;
    // What is leased must be known to the caller, also where this fails: then it asks again.
    const { dues: after } = await readDues(sql, request).catch(() => ({ dues: before }));
    return { work, nextDueAt: firstOf(after), ...waiting };
  }
  return { work: [], nextDueAt: firstOf(before), ...waiting };
}

/** Makes work from the history of a handler. It is leased in the same transaction: other processes make their own. */
function leaseHistory(sql: Sql, holder: LeaseHolder, request: LeaseRequest): Promise<Omit<LeasePage, "nextDueAt">> {
  return sql.transaction(async () => {
    const hasHistory = await sql.perform(planHistory(request));
    return { work: await readLeased(sql, holder, request, 0), hasHistory };
  });
}

async function readLeased(sql: Sql, holder: LeaseHolder, request: LeaseRequest, crashes: Crashes) {
  const rows = await sql.rows<LeasedRow>(LEASE, { ...request, ...holder, crashes });
  return rows.map((row) => toLeasedWork(row, { handler: request.handler, token: holder.token }));
}

interface Dues {
  dues: Map<Crashes, number>;
  waitsForKey: boolean;
  heldUntil: number | undefined;
  hasHistory: boolean;
}

/** Work whose key has become free is due again. */
async function readDuesWithFreed(sql: Sql, request: LeaseRequest): Promise<Dues> {
  const found = await readDues(sql, request);
  const hasFreed = found.waitsForKey && (await endWaits(sql, request)) > 0;
  return hasFreed ? readDues(sql, request) : found;
}

interface DuesRow extends Pick<Dues, "waitsForKey" | "hasHistory"> {
  crashes: Crashes;
  dueAt: number | null;
  heldUntil: number | null;
}

async function readDues(sql: Sql, { handler, now }: LeaseRequest): Promise<Dues> {
  const rows = await sql.rows<DuesRow>(SELECT_DUES, { handler, now });
  return {
    dues: new Map(rows.flatMap(({ crashes, dueAt }) => (dueAt === null ? [] : [[crashes, dueAt]]))),
    waitsForKey: rows.some((row) => row.waitsForKey),
    heldUntil: rows[0]?.heldUntil ?? undefined,
    hasHistory: rows.some((row) => row.hasHistory),
  };
}

function firstOf(dues: Map<Crashes, number>): number | undefined {
  return dues.size === 0 ? undefined : Math.min(...dues.values());
}

/** The rows are in one order, so that two transactions never wait for each other. */
const GIVEN = `
  WITH given AS (SELECT * FROM ${givenRows(LEASES)}), free AS MATERIALIZED (
    SELECT w.seq, w.handler FROM pigeonhole.inbox_work AS w JOIN given AS g
      ON w.seq = g.seq AND w.handler = g.handler AND w.lease = g.token
    ORDER BY w.seq, w.handler FOR UPDATE OF w SKIP LOCKED
  )`;

/**
 * The row of a run that commits its own writes at the moment is locked: its lease holds, and needs no renewal. No lease
 * ends earlier, as it would by the clock of a machine that stood still.
 */
const RENEW = `${GIVEN}, renewed AS (
    UPDATE pigeonhole.inbox_work AS w SET lease_until = greatest(lease_until, :leaseUntil)
    FROM free WHERE w.seq = free.seq AND w.handler = free.handler
  )
  SELECT place FROM given AS g WHERE NOT EXISTS (
    SELECT 1 FROM pigeonhole.inbox_work AS w
    WHERE w.seq = g.seq AND w.handler = g.handler AND w.lease = g.token)
  ORDER BY place`;

/** Extends leases; returns those that have a new holder. */
export async function renewLeases(sql: Sql, leases: readonly Lease[], leaseUntil: number): Promise<Lease[]> {
  const lost = await sql.rows<{ place: number }>(RENEW, { ...listsOf(LEASES, leases), leaseUntil });
  return lost.flatMap(({ place }) => leases[place - 1] ?? []);
}

/** The end of a lease is not moved to an earlier time. */
const PROLONG = `
  WITH mine AS (
    SELECT seq, handler FROM pigeonhole.inbox_work WHERE state = 'leased' AND process = :process
    ORDER BY seq, handler FOR UPDATE SKIP LOCKED
  )
  UPDATE pigeonhole.inbox_work AS w
  SET lease_until = greatest(lease_until, ${SERVER_TIME} + :forMs)
  FROM mine WHERE w.seq = mine.seq AND w.handler = mine.handler`;

/** Lets all leases of a process hold for a while from now on. */
export async function prolongLeases(sql: Sql, of: { process: number; forMs: number }): Promise<void> {
  await sql.run(PROLONG, of);
}

const RELEASE = `${GIVEN}
  UPDATE pigeonhole.inbox_work AS w
  SET ${notLeased(":now::bigint")}
  FROM free JOIN pigeonhole.inbox_event AS e ON e.seq = free.seq WHERE w.seq = free.seq AND w.handler = free.handler`;

/**
 * Makes leased work pending again as if it had not been leased; it waits since it was received. False when another
 * transaction holds some of it, as one whose connection was lost may do for a while: that stays leased.
 */
export async function releaseLeases(sql: Sql, leases: readonly Lease[], now: number): Promise<boolean> {
  const released = await sql.run(RELEASE, { ...listsOf(LEASES, leases), now });
  return released === leases.length || (await sql.run(SELECT_HOLDING, listsOf(LEASES, leases))) === 0;
}
