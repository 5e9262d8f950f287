import { DAY, MINUTE } from "../../../base/duration.js";
import { LOCK_EVENTS } from "../../queries/prune.js";
import type { PruneLimits, SessionOfServer, StoreAlarm, StoreContext } from "../../store.js";
import type { Sql } from "../sql.js";
import { sqlStateOf } from "../store-error.js";
import { bodiesIn, openNextSlot } from "./body-slots.js";

/**
 * While all bodies are locked: what reads bodies waits, what stores them goes on. Neither many rows nor a process that
 * stands still, nor a standby that is away, keep them locked. What was moved before is on the standby.
 */
const UNDER_LOCK = `SET LOCAL lock_timeout = '50ms'; SET LOCAL statement_timeout = '1s';
  SET LOCAL idle_in_transaction_session_timeout = '1s'; SET LOCAL synchronous_commit = 'local'`;

/** Why a slot is not emptied: others hold the lock, the check under it took too long, or a right is missing. */
const BLOCKED: Record<string, BlockReason> = { "55P03": "in_use", "57014": "slow", "42501": "refused" };

/** By then what was being stored in a slot, as the next one was opened, is stored. */
const STORED_WITHIN_MS = MINUTE;

/**
 * A transaction from before bodies were moved would find neither them nor where they were moved, in an empty slot. So
 * the slot stays for this long, in which a dump that has begun locks all tables.
 */
const CLEAR_FOR_MS = 10 * MINUTE;

/** Bodies that have ended for longer are reported, and again after as long. */
const LATE_MS = DAY;

const FIND_ENDED = `
  SELECT slot, opened, ended, clear_at AS "clearAt" FROM (
    SELECT *, lead(opened_at) OVER (ORDER BY opened) AS ended FROM pigeonhole.inbox_body_slot
  ) AS s WHERE ended < :before ORDER BY opened LIMIT 1`;

/** The scalar subquery looks each of the few up; a join might read all bodies of the slot. */
const selectWanted = (bodies: string): string => `
  SELECT DISTINCT w.seq FROM pigeonhole.open_work AS w
  WHERE w.seq > :after AND w.seq >= (SELECT min(seq) FROM ONLY ${bodies}) AND w.seq <= (SELECT max(seq) FROM ONLY ${bodies})
    AND (SELECT true FROM ONLY ${bodies} AS b WHERE b.seq = w.seq)
  ORDER BY w.seq LIMIT :batch`;

const CLOSE = "DELETE FROM pigeonhole.inbox_body_slot WHERE slot = :slot AND clear_at = :clearAt";

type BlockReason = Extract<StoreAlarm, { kind: "bodies_blocked" }>["reason"];

/** A slot whose bodies have ended. */
interface Emptying {
  slot: number;
  /** The number of its opening: it is opened again once it was emptied. */
  opened: number;
  /** When the next one was opened. */
  ended: number;
  clearAt: number | null;
}

/**
 * Empties slots, the oldest first, whose bodies have all ended: all arrived before the next slot was opened, whatever
 * their times say. Those of work that is not done are moved out before. What could not be emptied is tried in the next
 * round.
 */
export class SlotRound {
  readonly #onAlarm: StoreContext["onAlarm"];
  #emptying: Emptying | undefined;
  /** Up to this number, what was wanted is moved out of the slot. */
  #after = 0;
  #is: "new" | "begun" | "over" = "new";
  #reportedAt: number | undefined;

  constructor(onAlarm: StoreContext["onAlarm"]) {
    this.#onAlarm = onAlarm;
  }

  begin(): void {
    this.#is = "new";
  }

  /** Returns a number above 0 unless nothing can be done in this round any more. */
  async step(sql: Sql, limits: PruneLimits): Promise<number> {
    if (this.#is === "over") return 0;
    const done = await this.#step(sql, limits).catch(reasonOf);
    if (typeof done === "string") await this.#noteBlocked(sql, done, limits);
    else if (done > 0) return done;
    this.#is = "over";
    return 0;
  }

  async #step(sql: Sql, limits: PruneLimits): Promise<number | BlockReason> {
    const [now, bodiesBefore] = [Math.floor(limits.now), Math.floor(limits.bodiesBefore)];
    if (this.#is === "new") await openNextSlot(sql, { now, keptMs: now - bodiesBefore });
    this.#is = "begun";
    const found = await sql.row<Emptying>(FIND_ENDED, { before: bodiesBefore - STORED_WITHIN_MS });
    if (found === undefined) return 0;
    if (this.#emptying?.opened !== found.opened) this.#after = 0;
    this.#emptying = found;
    const seqs = await moveOut(sql, found.slot, { after: this.#after, batch: limits.batch });
    this.#after = seqs.at(-1) ?? 0;
    if (seqs.length > 0) return seqs.length;
    if (found.clearAt !== null) return found.clearAt + CLEAR_FOR_MS > now ? 0 : end(sql, found);
    await sql.run("UPDATE pigeonhole.inbox_body_slot SET clear_at = :now WHERE slot = :slot", {
      slot: found.slot,
      now,
    });
    return 0;
  }

  async #noteBlocked(sql: Sql, reason: BlockReason, { now, bodiesBefore }: PruneLimits): Promise<void> {
    if (this.#emptying === undefined) return;
    const { slot, ended } = this.#emptying;
    const lateMs = bodiesBefore - ended;
    const isReported = this.#reportedAt !== undefined && Math.abs(now - this.#reportedAt) < LATE_MS;
    if ((reason !== "refused" && lateMs < LATE_MS) || isReported) return;
    this.#reportedAt = now;
    const sessions = reason === "in_use" ? await sessionsHolding(sql, slot) : [];
    this.#onAlarm?.({ kind: "bodies_blocked", reason, lateMs, sessions });
  }
}

function reasonOf(error: unknown): BlockReason {
  const reason = BLOCKED[sqlStateOf(error) ?? ""];
  if (reason === undefined) throw error;
  return reason;
}

/** Moves a batch of bodies that are wanted out of a slot; returns their numbers. */
async function moveOut(sql: Sql, slot: number, page: { after: number; batch: number }): Promise<number[]> {
  const wanted = await sql.rows<{ seq: number }>(selectWanted(bodiesIn(slot)), page);
  const seqs = wanted.map(({ seq }) => seq);
  if (seqs.length === 0) return seqs;
  await sql.transaction(async () => {
    await sql.run(LOCK_EVENTS, { seqs });
    await sql.run(
      `WITH moved AS (DELETE FROM ONLY ${bodiesIn(slot)} WHERE seq = ANY(:seqs::bigint[]) RETURNING seq, body, trace)
       INSERT INTO pigeonhole.inbox_body (seq, body, trace) SELECT seq, body, trace FROM moved`,
      { seqs },
    );
    await sql.run("UPDATE pigeonhole.inbox_body_slot SET clear_at = NULL WHERE slot = :slot", { slot });
  });
  return seqs;
}

/** Returns 1, also when it has to stay. */
function end(sql: Sql, { slot, clearAt }: Emptying): Promise<number> {
  return sql.transaction(async () => {
    await sql.script(`${UNDER_LOCK}; LOCK TABLE ONLY ${bodiesIn(slot)} IN ACCESS EXCLUSIVE MODE`);
    // What is wanted again is moved out by the next step.
    if ((await sql.row(selectWanted(bodiesIn(slot)), { after: 0, batch: 1 })) !== undefined) return 1;
    // Another process may have moved bodies, or have emptied the slot and opened it again.
    if ((await sql.run(CLOSE, { slot, clearAt })) === 0) return 1;
    await sql.script(`TRUNCATE TABLE ONLY ${bodiesIn(slot)}`);
    return 1;
  });
}

/** Sessions with a lock of a slot: first those of which the user may not see when they began, then in that order. */
function sessionsHolding(sql: Sql, slot: number): Promise<SessionOfServer[]> {
  return sql.rows(
    `SELECT pid, coalesce(application_name, '') AS application FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid IN (
       SELECT pid FROM pg_locks WHERE granted AND relation = '${bodiesIn(slot)}'::regclass
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
     ORDER BY xact_start NULLS FIRST, pid LIMIT 5`,
  );
}
