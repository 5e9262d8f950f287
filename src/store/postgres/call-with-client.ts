import type { PoolClient } from "pg";
import { PigeonholeError } from "../../base/error.js";
import { untilAborted } from "../../base/wait.js";
import { guardClient } from "./guard-client.js";
import type { PostgresTransaction } from "./postgres-transaction.js";

/** A function of the user that writes in a transaction of the store. */
export interface ClientCall {
  fn: (tx: PostgresTransaction) => unknown;
  /** What the user knows the transaction by, for errors. */
  name: "ctx.commit" | "setup";
  /** Aborted when the function has to end. */
  signal?: AbortSignal | undefined;
}

/** Calls the function with a client that it cannot keep, and that does not end the transaction. */
export async function callWithClient(client: PoolClient, { fn, name, signal }: ClientCall): Promise<void> {
  const guarded = guardClient(client, name);
  const tx: PostgresTransaction = {
    get client() {
      return guarded.guarded;
    },
  };
  try {
    await untilAborted((async () => fn(tx))(), signal);
    guarded.checkKept();
  } finally {
    guarded.end();
  }
}

/** What PostgreSQL says that it has done. */
export async function endByCommit(client: PoolClient): Promise<string> {
  return (await client.query("COMMIT")).command;
}

/** For a transaction that was taken back at its COMMIT. */
export function failedInside(name: ClientCall["name"]): PigeonholeError {
  return new PigeonholeError(
    "transaction_ended",
    `A statement in ${name} failed and its error was caught, so PostgreSQL took everything back. Throw the error, or use SAVEPOINT for what may fail.`,
  );
}
