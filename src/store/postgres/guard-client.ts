import type { PoolClient } from "pg";
import { PigeonholeError } from "../../base/error.js";
import {
  type GuardedTransaction,
  type UserFunction,
  guardTransaction,
  transactionEnded,
} from "../guard-transaction.js";

/** Texts, quoted names, comments, and texts between dollar signs. */
const QUOTED_OR_COMMENT =
  /[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[^]*?(?:\*\/|$)|\$((?:[a-z_]\w*)?)\$[^]*?\$\1\$/gi;

/** A savepoint may be used: `SAVEPOINT`, `RELEASE`, `ROLLBACK TO`. */
const OF_TRANSACTION =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction)\b|^rollback\b(?!\s+(?:work\s+|transaction\s+)?to\b)/i;

const REFUSED: readonly (string | symbol)[] = ["connect", "end"];

/** Guards a client for the length of one `ctx.commit` or `setup`; it goes back to its pool by itself. */
export function guardClient(client: PoolClient, name: UserFunction): GuardedTransaction<PoolClient> {
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
