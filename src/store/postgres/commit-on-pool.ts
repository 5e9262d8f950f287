import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { leaseLost } from "../guard-transaction.js";
import type { DoneSettlement } from "../work.js";
import { untilAborted } from "../../base/wait.js";
import { callWithClient, endByCommit, failedInside, type PostgresTransaction } from "./call-with-client.js";
import { SHORT } from "./own-connection.js";
import { beginDone, settleDone } from "./operations/settle.js";
import type { BorrowedClient, SharedPool } from "./shared-pool.js";
import { asPostgresError, isConnectionLost, sqlStateOf, takesNoWrites } from "./store-error.js";
import { Sql, type Statements } from "./sql.js";

/** SQLSTATE of a session that the server ended since nothing was done in its transaction. */
const IDLE_IN_TRANSACTION = "25P03";

/**
 * The row of the work is locked until the transaction ends, also under a process that stands still, while its lease
 * ends within a minute. No shorter, so that a run with the default `timeoutMs` ends by that, which says more.
 */
const ENDS_IDLE_AFTER_MS = MINUTE;

/** Others hold the row of leased work for moments only, as when they renew it. */
const LOCK_TRIES = 40;
const LOCK_WAIT_MS = 50;

export interface PoolCommit {
  pool: SharedPool;
  statements: Statements;
  settlements: readonly DoneSettlement[];
  fn: (tx: PostgresTransaction) => unknown;
  /** Aborted when the run is over; a function that has not ended then has its connection closed. */
  signal: AbortSignal | undefined;
}

/**
 * The user's writes and the end of work in one transaction, on a client of the pool. The fence comes first: when a
 * lease is lost, the user's function does not run at all. Where a connection is lost under the COMMIT, nobody asks what
 * became of it: the row of the work tells the process that goes on with it.
 */
export async function commitOnPool({ pool, statements, settlements, fn, signal }: PoolCommit): Promise<void> {
  const borrowed = await pool.borrow("ctx.commit", signal);
  const { client, giveBack } = borrowed;
  const sql = new Sql(client, statements, { answerMs: SHORT.answerMs, idleMs: ENDS_IDLE_AFTER_MS });
  try {
    await untilAborted(begin(sql, settlements), signal);
    await callWithClient(client, { fn, name: "ctx.commit", signal });
  } catch (error) {
    // On a connection that is closed, the transaction ends and its rows are free.
    if (signal?.aborted === true) giveBack(true);
    else await undo(sql, borrowed, error, signal);
    const endedBy = borrowed.endedBy();
    throw endedBy === undefined || signal?.aborted === true ? error : connectionEnded(endedBy);
  }
  const command = await untilAborted(endByCommit(client), signal).catch((error: unknown) => ({ error }));
  giveBack(typeof command === "object");
  if (typeof command === "object") {
    if (signal?.aborted !== true && !isConnectionLost(command.error))
      throw asPostgresError(command.error, "ctx.commit");
    throw commitLost(borrowed.endedBy() ?? command.error);
  } else if (command !== "COMMIT") {
    // A statement failed and its error was not thrown: PostgreSQL then takes everything back.
    throw failedInside("ctx.commit");
  }
}

/** Ends the leases in a transaction that stays open. */
async function begin(sql: Sql, settlements: readonly DoneSettlement[]): Promise<void> {
  try {
    let left = settlements;
    let outcomes = await beginDone(sql, left);
    for (let attempt = 1; outcomes.some((outcome) => outcome !== "settled"); attempt += 1) {
      const lost = left.find((_, index) => outcomes[index] === "lost");
      if (lost !== undefined) throw leaseLost(lost);
      if (attempt === LOCK_TRIES) {
        throw new PigeonholeError("store_busy", "ctx.commit failed: another transaction holds the work.");
      }
      await sleep(LOCK_WAIT_MS);
      left = left.filter((_, index) => outcomes[index] === "locked");
      outcomes = await settleDone(sql, left);
    }
  } catch (error) {
    throw asPostgresError(error, "ctx.commit");
  }
}

async function undo(
  sql: Sql,
  { giveBack }: BorrowedClient,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await untilAborted(sql.script("ROLLBACK"), signal);
    giveBack(takesNoWrites(error));
  } catch {
    // The transaction ends with its connection.
    giveBack(true);
  }
}

function commitLost(by: unknown): PigeonholeError {
  if (sqlStateOf(by) === IDLE_IN_TRANSACTION) return connectionEnded(by);
  return new PigeonholeError(
    "store_unreachable",
    "The connection was lost while ctx.commit was committed. If it was, the work is done; otherwise it runs again.",
  );
}

/**
 * For a transaction that ended with its connection, whatever the user's function made of that. PostgreSQL's own texts
 * quote values, so they are not kept.
 */
function connectionEnded(by: unknown): PigeonholeError {
  if (sqlStateOf(by) !== IDLE_IN_TRANSACTION)
    return new PigeonholeError("store_unreachable", "The connection was lost under ctx.commit; nothing was written.");
  // Its lease may hold; where it does not, the settlement of the run meets that.
  return new PigeonholeError(
    "transaction_ended",
    "PostgreSQL ended ctx.commit, whose transaction had done nothing for too long: this process stood still, or the function waited for something else. Nothing was written. Do what takes long before ctx.commit.",
  );
}
