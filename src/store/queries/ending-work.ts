import { failureGroupOf } from "../error-kind.js";
import type { Settlement } from "../work.js";
import { SERVER_COLUMNS, type StoreQuery, readRows, run } from "./store-query.js";

/** Takes a row of `inbox_work` out of its group of errors. */
export const CLEAR_FAILURE = "error_type = NULL, error_group = NULL, failed_at = NULL";

const END = `
  state = 'done', discarded = true, settled_at = :now::bigint, due_at = NULL, waits_since = NULL,
  ${SERVER_COLUMNS.noKey}${CLEAR_FAILURE}`;

/** Ends work without a run; takes `:now`. What it keeps of a failed run may quote the body. */
export const DISCARD = `${END}, reason = NULL, error = NULL`;

/** Ends work for which another event is newer; takes `:now` and `:error`. A lease of it was never used. */
export const SUPERSEDE = `${END}, reason = 'superseded', error = :error, lease = NULL, lease_until = NULL,
  ${SERVER_COLUMNS.noProcess}started = started - CASE state WHEN 'leased' THEN 1 ELSE 0 END`;

/** How a run ended after which its work is not done. */
export type OtherEnd = Exclude<Settlement, { to: "done" }>;

const UNSET = { due_at: null, waits_since: null, settled_at: null, reason: null, holds: null, began: null };

/** What its work has then, by the names of the columns. */
export function columnsAfter(settlement: OtherEnd) {
  const { seq, handler, token, at, dropSteps: drop_steps, to: state, error } = settlement;
  const group = failureGroupOf(settlement) ?? null;
  const failure = { error, error_group: group, failed_at: group === null ? null : at };
  const ended = { ...UNSET, seq, handler, token, drop_steps, state, ...failure, stack: settlement.stack };
  if (settlement.to !== "pending") return { ...ended, settled_at: at, reason: settlement.reason };
  return { ...ended, due_at: settlement.dueAt, waits_since: at, ...settlement.wait };
}

/** Work that a person may end: leased work is left to its run. */
export const MAY_END = "state IN ('pending', 'dead', 'parked')";

/** One event for one handler, and when it is changed. */
export interface PieceAt {
  seq: number;
  handler: string;
  now: number;
}

/** Ends the work of an event without running it; returns how many pieces. */
export function* endWork({ seq, now }: { seq: number; now: number }): StoreQuery<number> {
  yield* readRows(
    `SELECT handler FROM pigeonhole.inbox_work WHERE seq = :seq AND ${MAY_END} ORDER BY handler FOR UPDATE`,
    { seq },
  );
  return yield* run(`UPDATE pigeonhole.inbox_work SET ${DISCARD} WHERE seq = :seq AND ${MAY_END}`, { seq, now });
}
