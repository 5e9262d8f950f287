import type { Database, Statement } from "better-sqlite3";
import { SERVER_COLUMNS, type StatementAnswer, type StoreQuery, WAITS } from "../queries/store-query.js";

/** Statements of a connection, by what is written. More than these are not kept: choices make many. */
const MAX_KEPT = 300;
const kept = new WeakMap<Database, Map<string, Statement<[object], object>>>();

/** Runs a query on a connection; in the transaction that is open there. */
export function runInFile<Value>(db: Database, query: StoreQuery<Value>): Value {
  let step = query.next();
  while (step.done !== true) step = query.next(answer(prepare(db, step.value.sql), step.value.values));
  return step.value;
}

function answer(statement: Statement<[object], object>, values: object): StatementAnswer {
  const bound = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : value]),
  );
  if (!statement.reader) return { rows: [], count: statement.run(bound).changes };
  const rows = statement.all(bound);
  return { rows, count: rows.length };
}

function prepare(db: Database, written: string): Statement<[object], object> {
  const statements = kept.get(db) ?? new Map<string, Statement<[object], object>>();
  kept.set(db, statements);
  let statement = statements.get(written);
  if (statement === undefined) {
    if (statements.size >= MAX_KEPT) statements.clear();
    statement = db.prepare<[object], object>(inSqlite(written));
    statements.set(written, statement);
  }
  return statement;
}

/** The words of PostgreSQL in those of SQLite, where a list is one JSON text. */
function inSqlite(written: string): string {
  return withoutServerColumns(written)
    .replaceAll("pigeonhole.open_work", "(SELECT * FROM inbox_work WHERE state <> 'done')")
    .replaceAll("pigeonhole.inbox_done_count", "(SELECT value AS done FROM inbox_counter WHERE name = 'done')")
    .replaceAll(/pigeonhole\.failed_work AS (\w+)/g, "inbox_work AS $1 INDEXED BY inbox_work_failed")
    .replaceAll("pigeonhole.", "")
    .replaceAll("strpos(", "instr(")
    .replaceAll("greatest(", "max(")
    .replaceAll("least(", "min(")
    .replaceAll(/::\w+(?:\[\])?/g, "")
    .replaceAll(/unnest\(([^)]+)\) AS (\w+) \(([^)]+)\)/g, (_, lists: string, name: string, columns: string) =>
      rowsOf(lists.split(","), name, columns.split(",")),
    )
    .replaceAll(/= ANY\((:\w+)\)/g, "IN (SELECT value FROM json_each($1))")
    .replaceAll("IS NOT DISTINCT FROM", "IS")
    .replaceAll(/ FOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, "");
}

function withoutServerColumns(written: string): string {
  return Object.values(SERVER_COLUMNS)
    .reduce((sql, assignments) => sql.replaceAll(assignments, ""), written)
    .replaceAll(WAITS, "state = 'pending'");
}

/** Lists of the same length as rows of columns. */
function rowsOf(lists: readonly string[], name: string, columns: readonly string[]): string {
  const values = columns.map((column, place) => `json_extract(${lists[place]}, '$[' || key || ']') AS ${column}`);
  return `(SELECT ${values.join(", ")} FROM json_each(${lists[0]})) AS ${name}`;
}

/**
 * Deletes so that the pages which become free are overwritten too. Without it only what is deleted inside a page is,
 * which costs nothing; here each freed page is written once more. Calls are not nested: the inner one would end it.
 */
export function overwriting<Value>(db: Database, work: () => Value): Value {
  db.pragma("secure_delete = ON");
  try {
    return work();
  } finally {
    db.pragma("secure_delete = FAST");
  }
}
