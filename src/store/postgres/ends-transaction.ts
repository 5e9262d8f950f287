/** Texts, quoted names, comments, and texts between dollar signs. */
const QUOTED_OR_COMMENT =
  /[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[^]*?(?:\*\/|$)|\$((?:[a-z_]\w*)?)\$[^]*?\$\1\$/gi;

/** A savepoint may be used: `SAVEPOINT`, `RELEASE`, `ROLLBACK TO`. */
const OF_TRANSACTION =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction)\b|^rollback\b(?!\s+(?:work\s+|transaction\s+)?to\b)/i;

/** True for SQL with a statement that begins or ends a transaction. */
export function endsTransaction(sql: string): boolean {
  const plain = sql.replaceAll(QUOTED_OR_COMMENT, " ");
  return plain.split(";").some((statement) => OF_TRANSACTION.test(statement.trim()));
}
