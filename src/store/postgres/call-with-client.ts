import type { PoolClient } from "pg";
import { PigeonholeError } from "../../base/error.js";
import { untilAborted } from "../../base/wait.js";
import {
  type GuardedTransaction,
  type UserFunction,
  guardTransaction,
  transactionEnded,
} from "../guard-transaction.js";

/** What `ctx.commit` passes to the user's function on PostgreSQL; usable only until that function has ended. */
export interface PostgresTransaction {
  /** A client of the pool, inside the open transaction. Your tables live in the same database. */
  readonly client: PoolClient;
}

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

/** Texts, quoted names, comments, and texts between dollar signs. */
const QUOTED_OR_COMMENT =
  /[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[^]*?(?:\*\/|$)|\$((?:[a-z_]\w*)?)\$[^]*?\$\1\$/gi;

/** A savepoint may be used: `SAVEPOINT`, `RELEASE`, `ROLLBACK TO`. */
const OF_TRANSACTION =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction)\b|^rollback\b(?!\s+(?:work\s+|transaction\s+)?to\b)/i;

const REFUSED: readonly (string | symbol)[] = ["connect", "end"];

/** Guards a client for the length of one `ctx.commit` or `setup`; it goes back to its pool by itself. */
function guardClient(client: PoolClient, name: UserFunction): GuardedTransaction<PoolClient> {
  const rules = { name, what: "tx.client" } as const;
  return guardTransaction(client, {
    ...rules,
    idle: ["release"],
    checkCall(method, argument) {
      if (REFUSED.includes(method)) {
        throw new PigeonholeError("invalid_argument", `tx.client.${String(method)}() is not allowed in ${name}.`);
      }
      const sql = method === "query" ? textOf(argument) : undefined;
      if (sql !== undefined && endsTransaction(sql)) throw transactionEnded(rules);
    },
  });
}

/** True for SQL with a statement that begins or ends a transaction. */
export function endsTransaction(sql: string): boolean {
  const plain = sql.replaceAll(QUOTED_OR_COMMENT, " ");
  return plain.split(";").some((statement) => OF_TRANSACTION.test(statement.trim()));
}

/** The SQL of a query: a text, or an object that has one, as cursors do. */
function textOf(query: unknown): string | undefined {
  if (typeof query === "string") return query;
  if (typeof query !== "object" || query === null || !("text" in query)) return undefined;
  return typeof query.text === "string" ? query.text : undefined;
}
