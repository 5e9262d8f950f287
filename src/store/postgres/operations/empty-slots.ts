import type { PruneLimits } from "../../store.js";
import type { Sql } from "../sql.js";
import { sqlStateOf } from "../store-error.js";
import { type BodySlot, bodiesIn, openNextSlot, readSlots } from "./body-slots.js";
import { LOCK_EVENTS } from "./lock-events.js";
import { isSeenFromBefore } from "./slot-sessions.js";

/** A check of bodies only reads two indexes, so that many are checked for one that may be removed. */
const CHECKED_FOR_ONE = 20;

/** What reads bodies waits meanwhile; what stores them goes on. The lock is given up when it is not there by then. */
const BRIEFLY = "SET LOCAL lock_timeout = '50ms'";

/**
 * While all bodies are locked: neither many rows nor a process that stands still, nor a standby that is away, keep them
 * locked. What was moved before is on the standby.
 */
const UNDER_LOCK = `${BRIEFLY}; SET LOCAL statement_timeout = '1s';
  SET LOCAL idle_in_transaction_session_timeout = '1s'; SET LOCAL synchronous_commit = 'local'`;

/** Others hold the lock, or the check under it took too long. */
const NOT_NOW = new Set(["55P03", "57014"]);

/** Errors in full may quote the body. */
const checkPageOf = (bodies: string) => `
  WITH page AS MATERIALIZED (
    SELECT seq FROM ONLY ${bodies} WHERE seq > :after AND seq <= :through ORDER BY seq LIMIT :limit
  ), wanted AS MATERIALIZED (
    SELECT seq FROM pigeonhole.inbox_event
    WHERE seq = ANY(ARRAY(SELECT seq FROM page)) AND (received_at >= :before OR received_at > :now)
    UNION SELECT seq FROM pigeonhole.inbox_work WHERE seq = ANY(ARRAY(SELECT seq FROM page))
  ), failed AS (
    DELETE FROM pigeonhole.inbox_failed
    WHERE seq = ANY(ARRAY(SELECT seq FROM page)) AND seq NOT IN (SELECT seq FROM wanted)
  )
  SELECT count(*) AS checked, max(seq) AS last, ARRAY(SELECT seq::text FROM wanted ORDER BY seq) AS wanted FROM page`;

/** The scalar subquery looks each of the few up; a join might read all bodies of the slot. */
const checkAllOf = (bodies: string) => `
  SELECT EXISTS (SELECT 1 FROM pigeonhole.body_slot WHERE slot = :slot AND opened = :opened) AS "isSame",
    pg_snapshot_xmax(pg_current_snapshot())::text AS "seenAt",
    EXISTS (SELECT 1 FROM ONLY ${bodies} WHERE seq > :through) AS "hasLater",
    ARRAY(
      SELECT DISTINCT w.seq::text FROM pigeonhole.inbox_work AS w
      WHERE w.seq >= (SELECT min(seq) FROM ONLY ${bodies}) AND w.seq <= :through
        AND (SELECT true FROM ONLY ${bodies} AS b WHERE b.seq = w.seq)
      LIMIT :batch) AS wanted`;

interface CheckedPage {
  checked: number;
  last: number | null;
  wanted: string[];
}

interface AllOf {
  /** False when another process has emptied the slot; it may have been opened again. */
  isSame: boolean;
  /** Transactions from this number on are not seen. */
  seenAt: string;
  hasLater: boolean;
  wanted: string[];
}

/** A slot whose bodies are checked up to `after`; new ones come only behind `through`. */
interface Emptying extends BodySlot {
  after: number;
  through: number;
  /** Before which transaction none of its bodies was wanted any more; undefined until that is seen. */
  clearSince?: string | undefined;
}

/**
 * Empties slots whose bodies have all ended. A body that is still wanted is moved out of its slot: one of unsettled
 * work, or of an event that is not old enough. What was checked is kept for the next round, if the slot is in use.
 */
export class SlotRound {
  #emptying: Emptying | undefined;
  #hasEnded = false;

  /** Lets the next step begin a round. */
  begin(): void {
    this.#hasEnded = false;
  }

  /** Returns how many bodies it checked; 0 when nothing can be done in this round any more. */
  async step(sql: Sql, limits: PruneLimits): Promise<number> {
    if (this.#hasEnded) return 0;
    const checked = await unlessInUse(() => this.#step(sql, limits));
    this.#hasEnded = checked === 0;
    return checked;
  }

  async #step(sql: Sql, limits: PruneLimits): Promise<number> {
    this.#emptying ??= await beginNext(sql, limits);
    const emptying = this.#emptying;
    if (emptying === undefined) return 0;
    const page = await checkPage(sql, emptying, limits);
    await moveOut(sql, emptying.slot, page.wanted, limits.batch);
    emptying.after = page.last ?? emptying.after;
    if (page.checked > 0) return page.checked;
    return this.#end(sql, emptying, limits.batch);
  }

  /** What sees the database as it was while bodies were wanted would find neither them nor where they were moved. */
  async #end(sql: Sql, emptying: Emptying, batch: number): Promise<number> {
    const { slot, clearSince } = emptying;
    if (clearSince !== undefined && (await isSeenFromBefore(sql, clearSince))) return 0;
    const found = await (clearSince === undefined
      ? checkAll(sql, emptying, batch)
      : emptyUnderLock(sql, emptying, batch));
    const isClear = found.isSame && isEmptiable(found);
    if (!found.isSame || (isClear && clearSince !== undefined)) {
      this.#emptying = undefined;
      return 1;
    }
    emptying.clearSince = isClear ? found.seenAt : undefined;
    await moveOut(sql, slot, found.wanted, batch);
    if (found.hasLater) emptying.through = await lastSeqIn(sql, slot);
    return 1;
  }
}

const isEmptiable = ({ hasLater, wanted }: AllOf): boolean => !hasLater && wanted.length === 0;

/** 0 when the slot is used by others at the moment. */
async function unlessInUse(step: () => Promise<number>): Promise<number> {
  try {
    return await step();
  } catch (error) {
    if (NOT_NOW.has(sqlStateOf(error) ?? "")) return 0;
    throw error;
  }
}

/** The first slot that may be emptied. Opens the next one for new bodies, where it is time. */
async function beginNext(sql: Sql, limits: PruneLimits): Promise<Emptying | undefined> {
  const { now, bodiesBefore } = limits;
  const { current, closed } = await readSlots(sql);
  await openNextSlot(sql, current, { now, keptMs: now - bodiesBefore });
  for (const slot of closed) {
    if (await hasEnded(sql, slot, limits)) return { ...slot, after: 0, through: await lastSeqIn(sql, slot.slot) };
  }
  return undefined;
}

/** By its newest body, whose event is looked at alone. One received while the clock was ahead says nothing. */
async function hasEnded(sql: Sql, { slot }: BodySlot, { now, bodiesBefore }: PruneLimits): Promise<boolean> {
  const newest = await sql.row<{ receivedAt: number }>(
    `SELECT received_at AS "receivedAt" FROM pigeonhole.inbox_event
     WHERE seq = (SELECT max(seq) FROM ONLY ${bodiesIn(slot)})`,
  );
  return newest === undefined || newest.receivedAt < bodiesBefore || newest.receivedAt > now;
}

/** Behind it are all bodies that come into the slot from now on: what is storing some has the table locked. */
function lastSeqIn(sql: Sql, slot: number): Promise<number> {
  return sql.transaction(async () => {
    await sql.script(`${BRIEFLY}; LOCK TABLE ONLY ${bodiesIn(slot)} IN SHARE MODE`);
    const row = await sql.row<{ last: number | null }>(`SELECT max(seq) AS last FROM ONLY ${bodiesIn(slot)}`);
    return row?.last ?? 0;
  });
}

async function checkPage(
  sql: Sql,
  emptying: Emptying,
  { now, bodiesBefore, batch }: PruneLimits,
): Promise<CheckedPage> {
  const page = await sql.row<CheckedPage>(checkPageOf(bodiesIn(emptying.slot)), {
    after: emptying.after,
    through: emptying.through,
    before: Math.ceil(bodiesBefore),
    now: Math.floor(now),
    limit: batch * CHECKED_FOR_ONE,
  });
  return page ?? { checked: 0, last: null, wanted: [] };
}

/** What still keeps the slot. */
async function checkAll(sql: Sql, { slot, opened, through }: Emptying, batch: number): Promise<AllOf> {
  const found = await sql.row<AllOf>(checkAllOf(bodiesIn(slot)), { slot, opened, through, batch });
  return found ?? { isSame: false, seenAt: "", hasLater: false, wanted: [] };
}

/** What still keeps the slot; it is empty otherwise. */
function emptyUnderLock(sql: Sql, emptying: Emptying, batch: number): Promise<AllOf> {
  const { slot } = emptying;
  return sql.transaction(async () => {
    await sql.script(`${UNDER_LOCK}; LOCK TABLE ONLY ${bodiesIn(slot)} IN ACCESS EXCLUSIVE MODE`);
    const found = await checkAll(sql, emptying, batch);
    if (found.isSame && isEmptiable(found)) {
      await sql.script(`TRUNCATE TABLE ONLY ${bodiesIn(slot)}`);
      await sql.run("DELETE FROM pigeonhole.body_slot WHERE slot = :slot", { slot });
    }
    return found;
  });
}

/** Moves bodies out of a slot, a batch in each transaction. */
async function moveOut(sql: Sql, slot: number, seqs: readonly string[], batch: number): Promise<void> {
  for (let at = 0; at < seqs.length; at += batch) {
    const asked = { seqs: seqs.slice(at, at + batch) };
    await sql.transaction(async () => {
      await sql.run(LOCK_EVENTS, asked);
      await sql.run(
        `WITH moved AS (DELETE FROM ONLY ${bodiesIn(slot)} WHERE seq = ANY(:seqs::bigint[]) RETURNING seq, body)
         INSERT INTO pigeonhole.inbox_body (seq, body) SELECT seq, body FROM moved`,
        asked,
      );
    });
  }
}
