import { NOTE_HANDLER } from "../../../base/note-handler.js";
import { errorKeyOf } from "../../error-kind.js";
import type { ReplanPlan } from "../../store.js";
import type { Sql } from "../sql.js";
import { ended } from "./ended.js";
import { lockBodies, takeBody } from "./other-bytes.js";

const note = NOTE_HANDLER;

/** What a retry sets. */
export const RESET = `
  state = 'pending', due_at = :now, settled_at = NULL, reason = NULL, started = 0, finished = 0, waits_since = NULL,
  error_type = NULL, error_group = NULL, failed_at = NULL, discarded = false`;

const IS_STUCK = "seq = :seq AND handler <> '' AND state IN ('dead', 'parked')";

/** What is being settled at the moment is either done afterwards, or still there. */
const LOCK_WORK = "SELECT 1 FROM pigeonhole.inbox_work WHERE seq = :seq ORDER BY handler FOR UPDATE";

/** What was discarded may run again. */
const ADD_WORK = `
  INSERT INTO pigeonhole.inbox_work AS w (seq, handler, state, due_at, started, finished)
  SELECT :seq, handler, 'pending', :now::bigint, 0, 0 FROM unnest(:handlers::text[]) AS h (handler)
  ON CONFLICT (seq, handler) DO UPDATE SET ${RESET} WHERE w.discarded`;

/** Makes the stuck work of an event pending, with its counters at 0, and adds missing work. In one transaction. */
export async function replanEvent(sql: Sql, plan: ReplanPlan): Promise<number> {
  const { seq, now } = plan;
  const { first, hasOthers } = await lockBodies(sql, seq);
  await sql.run(LOCK_WORK, { seq });
  // Retention has dropped the body, and work without one could never be leased.
  const hasBody = await sql.row("SELECT 1 AS found FROM pigeonhole.inbox_body WHERE seq = :seq", { seq });
  if (hasBody === undefined) return 0;
  // It may have been read again, discarded or erased meanwhile.
  if (plan.requested === true && !(await isRequested(sql, seq))) return 0;
  await replaceNote(sql, plan);
  const handlers = hasOthers ? await takeFromOthers(sql, plan, first) : plan.handlers;
  const reset =
    plan.parked === undefined
      ? await sql.run(`UPDATE pigeonhole.inbox_work SET ${RESET} WHERE ${IS_STUCK}`, { seq, now })
      : await sql.run(`UPDATE pigeonhole.inbox_work SET ${RESET} WHERE ${IS_STUCK} AND handler = ANY(:handlers)`, {
          seq,
          now,
          handlers,
        });
  return reset + (await sql.run(ADD_WORK, { seq, now, handlers }));
}

async function isRequested(sql: Sql, seq: number): Promise<boolean> {
  const row = await sql.row(
    `SELECT 1 AS found FROM pigeonhole.inbox_work
     WHERE seq = :seq AND handler = :note AND state = 'parked' AND waits_since IS NOT NULL`,
    { seq, note },
  );
  return row !== undefined;
}

async function replaceNote(sql: Sql, { seq, parked, now }: ReplanPlan): Promise<void> {
  await sql.run("DELETE FROM pigeonhole.inbox_work WHERE seq = :seq AND handler = :note", { seq, note });
  if (parked === undefined) return;
  await sql.run(
    `INSERT INTO pigeonhole.inbox_work
       (seq, handler, state, settled_at, started, finished, reason, error, error_type, error_group, failed_at)
     SELECT seq, :note, 'parked', :now::bigint, 0, 0, :reason, :detail, type, :errorGroup, :now::bigint
     FROM pigeonhole.inbox_event WHERE seq = :seq`,
    { seq, note, now, ...parked, errorGroup: errorKeyOf({ isParked: true, ...parked, error: parked.detail }) },
  );
}

/** The handlers that may have this body of its id; for the others its work ends here. */
async function takeFromOthers(sql: Sql, plan: ReplanPlan, first: number): Promise<readonly string[]> {
  const { seq, handlers, now } = plan;
  const stuck = await sql.rows<{ handler: string }>(`SELECT handler FROM pigeonhole.inbox_work WHERE ${IS_STUCK}`, {
    seq,
  });
  const wanted = new Set([...handlers, ...(plan.parked === undefined ? stuck.map(({ handler }) => handler) : [])]);
  const refused = new Set<string>();
  for (const handler of wanted) {
    if (await takeBody(sql, { first, handler, seq })) continue;
    refused.add(handler);
    await endStuckPiece(sql, { seq, handler, now });
  }
  return handlers.filter((handler) => !refused.has(handler));
}

/** Ends a piece of stuck work without running it, also where there was none. */
export async function endStuckPiece(sql: Sql, piece: { seq: number; handler: string; now: number }): Promise<void> {
  await sql.run(
    `INSERT INTO pigeonhole.inbox_work AS w (seq, handler, state, settled_at, started, finished, discarded)
     VALUES (:seq, :handler, 'done', :now::bigint, 0, 0, true)
     ON CONFLICT (seq, handler) DO UPDATE SET ${ended(":now::bigint")}, discarded = true
       WHERE w.state IN ('dead', 'parked')`,
    piece,
  );
}
