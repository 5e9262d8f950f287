import { PigeonholeError } from "../../base/error.js";
import { type UserFunction, transactionEnded } from "../guard-transaction.js";

/** Only statements that begin with these words, or name a savepoint of the driver, reach beyond the transaction. */
const MAY_REACH_BEYOND = /\b(?:pragma|begin|commit|end|rollback|attach|detach)\b|_bs3/i;
const QUOTED_OR_COMMENT = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)/g;
const BEGINS_TRIGGER = /^create\s+(?:temp\s+|temporary\s+)?trigger\b/i;
const OF_TRANSACTION = /^(?:begin|commit|end)\b|^rollback\b(?!\s+(?:transaction\s+)?to\b)/i;
/** better-sqlite3 names the savepoints of its transactions so. */
const OF_DRIVER = /^(?:savepoint|release|rollback)\b.*_bs3/i;
const OTHER_FILE = /^(?:attach|detach)\b/i;
/** SQLite sets some pragmas while it reads the statement, also behind this. */
const EXPLAIN = /^explain\s+(?:query\s+plan\s+)?/i;
const PRAGMA = /^pragma\s+(?:\w+\s*\.\s*)?(\w+)\s*([=(])?/i;
/** Numbers in the file's header, of which there is one for all tables in it. */
const OF_INBOX = new Set(["user_version", "application_id"]);
/** Pragmas that read, and have an argument. */
const READS = new Set([
  "foreign_key_check",
  "foreign_key_list",
  "index_info",
  "index_list",
  "index_xinfo",
  "integrity_check",
  "quick_check",
  "table_info",
  "table_list",
  "table_xinfo",
]);

/**
 * Refuses SQL that reaches beyond the user's transaction, before it runs: `transaction_ended` for statements that begin
 * or end one, `invalid_argument` for pragmas that are set and for other files, since all handlers share the connection.
 */
export function checkStatements(name: UserFunction, sql: string): void {
  if (!MAY_REACH_BEYOND.test(sql)) return;
  let isInTrigger = false;
  for (const statement of statementsOf(sql)) {
    if (BEGINS_TRIGGER.test(statement)) isInTrigger = true;
    else if (isInTrigger) isInTrigger = !/^end\b/i.test(statement);
    else if (OF_TRANSACTION.test(statement) || OF_DRIVER.test(statement))
      throw transactionEnded({ name, what: "tx.db" });
    else if (OTHER_FILE.test(statement)) throw otherFile(name);
    else checkPragma(name, statement);
  }
}

function checkPragma(name: UserFunction, statement: string): void {
  const [, pragma = "", argument] = PRAGMA.exec(statement) ?? [];
  if (argument === undefined || READS.has(pragma.toLowerCase())) return;
  throw new PigeonholeError("invalid_argument", `PRAGMA ${pragma} is not allowed in ${name}: ${whyNot(pragma)}`);
}

function whyNot(pragma: string): string {
  return OF_INBOX.has(pragma.toLowerCase())
    ? "it is the inbox's own mark in the file. Keep the version of your tables in a table of yours."
    : "all handlers share the connection, and its foreign keys are on. Leave it out.";
}

/** Without comments, texts and quotes. */
function statementsOf(sql: string): string[] {
  const plain = sql.replaceAll(QUOTED_OR_COMMENT, (part) => {
    if (part.startsWith("--") || part.startsWith("/*")) return " ";
    return part.startsWith("'") ? "''" : part.slice(1, -1).replaceAll(/\W/g, "_");
  });
  return plain.split(";").map((statement) => statement.trim().replace(EXPLAIN, ""));
}

function otherFile(name: UserFunction): PigeonholeError {
  return new PigeonholeError(
    "invalid_argument",
    `ATTACH and DETACH are not allowed in ${name}: all handlers share the connection, and would wait for the lock of the other file. Open it with a connection of your own.`,
  );
}
