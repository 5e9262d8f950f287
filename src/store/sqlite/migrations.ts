import { TABLES } from "../tables.js";

/**
 * The steps of the schema; `PRAGMA user_version` counts those that have run. Until the first release there is one,
 * which a change of the schema edits. A released step is never edited: a change is then a new one at the end.
 */
export const MIGRATIONS: readonly string[] = [
  `${inSqlite(TABLES)}
  -- started - finished counts the processes that died in it: 0, 1, or 2 and more.
  CREATE INDEX inbox_work_pending ON inbox_work (handler, min(started - finished, 2), due_at) WHERE state = 'pending';
  CREATE INDEX inbox_work_open ON inbox_work (state, seq) WHERE state <> 'done';

  -- done: runs that were settled as done. epoch: how often a process took the file over.
  INSERT INTO inbox_counter (name, value) VALUES ('done', 0), ('epoch', 0);
  `,
];

/** The tables that they create. The user's own ones may have any other name. */
export const STORE_TABLES: readonly string[] = MIGRATIONS.flatMap((sql) =>
  [...sql.matchAll(/\bCREATE TABLE (\w+)/g)].map(([, name = ""]) => name),
);

/** The first table numbers events. */
function inSqlite(tables: string): string {
  return tables
    .replaceAll(/pigeonhole\.| COLLATE "C"| GENERATED ALWAYS AS IDENTITY/g, "")
    .replaceAll("strpos(", "instr(")
    .replace("PRIMARY KEY", "PRIMARY KEY AUTOINCREMENT")
    .replaceAll(/^ {4}(\w+) +boolean NOT NULL(?=,)/gm, "$& CHECK ($1 IN (0, 1))")
    .replaceAll(/^( {4}\w+ +)(?:bigint|integer|boolean)\b/gm, "$1INTEGER")
    .replaceAll(/^( {4}\w+ +)text\b/gm, "$1TEXT")
    .replaceAll(/^( {4}\w+ +)bytea\b/gm, "$1BLOB")
    .replaceAll(/CREATE TABLE [^;]+;/g, strict);
}

/** Numbered rows, and those that are changed in place, are found by rowid; others by their key alone. */
function strict(table: string): string {
  const hasRowid = /INTEGER +PRIMARY KEY|\) WITH /.test(table);
  return table.replace(/\)(?: WITH \([^)]*\))?;$/, hasRowid ? ") STRICT;" : ") STRICT, WITHOUT ROWID;");
}
