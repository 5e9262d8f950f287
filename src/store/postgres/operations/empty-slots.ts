import { DAY, MINUTE } from "../../../base/duration.js";
import type { PruneLimits, StoreAlarm, StoreContext } from "../../store.js";
import type { Sql } from "../sql.js";
import { sqlStateOf } from "../store-error.js";
import { type BodySlot, NO_SLOT, bodiesIn, openNextSlot, readSlots } from "./body-slots.js";
import { LOCK_EVENTS } from "./lock-events.js";
import { OPEN_WORK } from "./open-work.js";
import { isSeenFromBefore, sessionsHolding } from "./slot-sessions.js";

/** A check of bodies only reads, so that many are checked for one that may be removed. */
const CHECKED_FOR_ONE = 20;

/** What reads bodies waits meanwhile; what stores them goes on. The lock is given up when it is not there by then. */
const BRIEFLY = "SET LOCAL lock_timeout = '50ms'";

/**
 * While all bodies are locked: neither many rows nor a process that stands still, nor a standby that is away, keep them
 * locked. What was moved before is on the standby.
 */
const UNDER_LOCK = `${BRIEFLY}; SET LOCAL statement_timeout = '1s';
  SET LOCAL idle_in_transaction_session_timeout = '1s'; SET LOCAL synchronous_commit = 'local'`;

/** Why a slot is not emptied: others hold the lock, the check under it took too long, or a right is missing. */
const BLOCKED: Record<string, BlockReason> = { "55P03": "in_use", "57014": "slow", "42501": "refused" };

/** By how much a clock may be set back between two rounds, while what was checked counts. */
const TOLERATED_MS = MINUTE;

/** Bodies that have ended for longer are reported, and are removed one by one. */
const LATE_MS = DAY;
const AGAIN_MS = DAY;

/** Errors and names of steps may quote the body. An event received while the clock was ahead counts as a young one. */
const checkPageOf = (bodies: string) => `
  WITH page AS MATERIALIZED (
    SELECT seq FROM ONLY ${bodies} WHERE seq > :after AND seq <= :through ORDER BY seq LIMIT :limit
  ), wanted AS MATERIALIZED (
    SELECT seq FROM pigeonhole.inbox_event
    WHERE seq = ANY(ARRAY(SELECT seq FROM page)) AND received_at >= :before
    UNION SELECT seq FROM pigeonhole.inbox_work WHERE seq = ANY(ARRAY(SELECT seq FROM page)) AND state <> 'done'
  ), failed AS (
    DELETE FROM pigeonhole.inbox_failed
    WHERE seq = ANY(ARRAY(SELECT seq FROM page)) AND seq NOT IN (SELECT seq FROM wanted)
  ), steps AS (
    DELETE FROM pigeonhole.inbox_step
    WHERE seq = ANY(ARRAY(SELECT seq FROM page)) AND seq NOT IN (SELECT seq FROM wanted)
  )
  SELECT count(*) AS checked, max(seq) AS last, ARRAY(SELECT seq::text FROM wanted ORDER BY seq) AS wanted FROM page`;

/** The scalar subquery looks each of the few up; a join might read all bodies of the slot. */
const checkAllOf = (bodies: string) => `
  SELECT EXISTS (SELECT 1 FROM pigeonhole.body_slot WHERE slot = :slot AND opened = :opened) AS "isSame",
    pg_snapshot_xmax(pg_current_snapshot())::text AS "seenAt",
    EXISTS (SELECT 1 FROM ONLY ${bodies} WHERE seq > :through) AS "hasLater",
    ARRAY(
      SELECT DISTINCT w.seq::text FROM ${OPEN_WORK} AS w
      WHERE w.seq >= (SELECT min(seq) FROM ONLY ${bodies}) AND w.seq <= :through
        AND (SELECT true FROM ONLY ${bodies} AS b WHERE b.seq = w.seq)
      LIMIT :batch) AS wanted`;

type BlockReason = Extract<StoreAlarm, { kind: "bodies_blocked" }>["reason"];

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

/** A slot whose bodies are checked up to `after`; new ones come only behind `through`, once that is known. */
interface Emptying extends BodySlot {
  after: number;
  through: number | undefined;
  /** When its last body ended. */
  endedAt: number;
  /** Bodies received before this have been taken for ended. */
  before: number;
  /** Before which transaction none of its bodies was wanted any more; undefined until that is seen. */
  clearSince?: string | undefined;
}

/**
 * Empties slots whose bodies have all ended. A body that is still wanted is moved out of its slot: one of unsettled
 * work, or of an event that is not old enough. What was checked is kept for the next round, if the slot is in use.
 */
export class SlotRound {
  readonly #onAlarm: StoreContext["onAlarm"];
  #emptying: Emptying | undefined;
  #hasEnded = false;
  #isLate = false;
  #reportedAt: number | undefined;

  constructor(onAlarm: StoreContext["onAlarm"]) {
    this.#onAlarm = onAlarm;
  }

  /** True while a slot has not been emptied for so long that its bodies have to be removed one by one. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Lets the next step begin a round. */
  begin(): void {
    this.#hasEnded = false;
  }

  /** Returns how many bodies it checked; 0 when nothing can be done in this round any more. */
  async step(sql: Sql, limits: PruneLimits): Promise<number> {
    if (this.#hasEnded) return 0;
    const checked = await unlessBlocked(() => this.#step(sql, limits));
    this.#hasEnded = typeof checked === "string" || checked === 0;
    if (typeof checked === "number") return checked;
    await this.#noteBlocked(sql, checked, limits.now);
    return 0;
  }

  async #step(sql: Sql, limits: PruneLimits): Promise<number | BlockReason> {
    if (limits.bodiesBefore + TOLERATED_MS < (this.#emptying?.before ?? 0)) this.#emptying = undefined;
    this.#emptying ??= await beginNext(sql, limits);
    const emptying = this.#emptying;
    if (emptying === undefined) {
      this.#isLate = false;
      return 0;
    }
    emptying.through ??= await lastSeqIn(sql, emptying.slot);
    const page = await checkPage(sql, emptying, limits);
    await moveOut(sql, emptying.slot, page.wanted, limits.batch);
    emptying.after = page.last ?? emptying.after;
    if (page.checked > 0) return page.checked;
    return this.#end(sql, emptying, limits.batch);
  }

  /** What sees the database as it was while bodies were wanted would find neither them nor where they were moved. */
  async #end(sql: Sql, emptying: Emptying, batch: number): Promise<number | BlockReason> {
    const { slot, clearSince } = emptying;
    if (clearSince !== undefined && (await isSeenFromBefore(sql, clearSince))) return "in_use";
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
    if (found.hasLater) emptying.through = undefined;
    return 1;
  }

  async #noteBlocked(sql: Sql, reason: BlockReason, now: number): Promise<void> {
    const { slot = NO_SLOT, clearSince: since, endedAt = now } = this.#emptying ?? {};
    const lateMs = now - endedAt;
    this.#isLate = reason === "refused" || lateMs >= LATE_MS;
    const isReported = this.#reportedAt !== undefined && Math.abs(now - this.#reportedAt) < AGAIN_MS;
    if (!this.#isLate || isReported) return;
    this.#reportedAt = now;
    const sessions = reason === "in_use" ? await sessionsHolding(sql, { slot, since }) : [];
    this.#onAlarm?.({ kind: "bodies_blocked", reason, lateMs, sessions });
  }
}

const isEmptiable = ({ hasLater, wanted }: AllOf): boolean => !hasLater && wanted.length === 0;

async function unlessBlocked(step: () => Promise<number | BlockReason>): Promise<number | BlockReason> {
  try {
    return await step();
  } catch (error) {
    const reason = BLOCKED[sqlStateOf(error) ?? ""];
    if (reason === undefined) throw error;
    return reason;
  }
}

/** The first slot that may be emptied. Opens the next one for new bodies, where it is time. */
async function beginNext(sql: Sql, limits: PruneLimits): Promise<Emptying | undefined> {
  const { now, bodiesBefore } = limits;
  const { current, closed } = await readSlots(sql);
  await openNextSlot(sql, current, { now, keptMs: now - bodiesBefore });
  for (const slot of closed) {
    const endedAt = await endOf(sql, slot, limits);
    if (endedAt <= now) return { ...slot, after: 0, through: undefined, endedAt, before: bodiesBefore };
  }
  return undefined;
}

/**
 * When the bodies of a slot end, by its newest one, whose event is looked at alone. One received while the clock was
 * ahead says nothing.
 */
async function endOf(sql: Sql, { slot }: BodySlot, { now, bodiesBefore }: PruneLimits): Promise<number> {
  const newest = await sql.row<{ receivedAt: number }>(
    `SELECT received_at AS "receivedAt" FROM pigeonhole.inbox_event
     WHERE seq = (SELECT max(seq) FROM ONLY ${bodiesIn(slot)})`,
  );
  if (newest === undefined || newest.receivedAt > now) return now;
  return newest.receivedAt < bodiesBefore ? newest.receivedAt + (now - bodiesBefore) : Infinity;
}

/** Behind it are all bodies that come into the slot from now on: what is storing some has the table locked. */
function lastSeqIn(sql: Sql, slot: number): Promise<number> {
  return sql.transaction(async () => {
    await sql.script(`${BRIEFLY}; LOCK TABLE ONLY ${bodiesIn(slot)} IN SHARE MODE`);
    const row = await sql.row<{ last: number | null }>(`SELECT max(seq) AS last FROM ONLY ${bodiesIn(slot)}`);
    return row?.last ?? 0;
  });
}

async function checkPage(sql: Sql, emptying: Emptying, { bodiesBefore, batch }: PruneLimits): Promise<CheckedPage> {
  const page = await sql.row<CheckedPage>(checkPageOf(bodiesIn(emptying.slot)), {
    after: emptying.after,
    through: emptying.through,
    before: Math.ceil(bodiesBefore),
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
        `WITH moved AS (DELETE FROM ONLY ${bodiesIn(slot)} WHERE seq = ANY(:seqs::bigint[]) RETURNING seq, body, trace)
         INSERT INTO pigeonhole.inbox_body (seq, body, trace) SELECT seq, body, trace FROM moved`,
        asked,
      );
    });
  }
}
