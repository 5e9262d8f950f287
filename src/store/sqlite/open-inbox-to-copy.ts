import type { Database } from "better-sqlite3";
import { listPolicies } from "../queries/handlers.js";
import { idsKnownSince } from "../queries/known-ids.js";
import { isOwned } from "./file-ownership.js";
import { openOutsideConnection, runBeside, tryWhileBusy } from "./open-outside-connection.js";
import { runInFile } from "./run-in-file.js";

/** A row of a table of the store, by its columns, which have the same names in both databases. */
export type TableRow = Record<string, string | number | null | Uint8Array>;

/** Rows on their way from one database into another, with the numbers that they have in the first. */
export interface CopiedPage {
  /** Events, or contact events. */
  rows: TableRow[];
  /** By table: what belongs to these rows. */
  beside: Record<string, TableRow[]>;
  /** Where the next page begins; undefined on the last one. */
  after: number | undefined;
}

/** Rows of a page, and about how many bytes their bodies may have. */
const PAGE_ROWS = 200;
const PAGE_BYTES = 8 * 1024 * 1024;

/** A file whose inbox is copied into another database, a page at a time. */
export type InboxToCopy = Awaited<ReturnType<typeof openInboxToCopy>>;

/** Opens a file to read all that its inbox has; it is not changed. Rejects as `openInboxFile` does. */
export async function openInboxToCopy(file: string) {
  const connection = await tryWhileBusy(() => openOutsideConnection(file));
  const { db } = connection;
  const read = <Value>(query: () => Value): Promise<Value> => runBeside(db, "deferred", query);
  return {
    hasReceiver: () => isOwned(file),
    events: (after: number) => read(() => readEvents(db, after)),
    contactEvents: (after: number) => read(() => readContactEvents(db, after)),
    policies: () => read(() => runInFile(db, listPolicies())),
    idsKnownSince: () => read(() => runInFile(db, idsKnownSince())),
    close: () => connection.close(),
  };
}

function select<Row>(db: Database, sql: string, values: object = {}): Row[] {
  return db.prepare<[object], Row>(sql).all(values);
}

function readEvents(db: Database, after: number): CopiedPage {
  const found = select<TableRow>(db, `SELECT * FROM inbox_event WHERE seq > :after ORDER BY seq LIMIT ${PAGE_ROWS}`, {
    after,
  });
  const rows = upToBytes(found);
  const range = { first: rows[0]?.["seq"] ?? 0, last: rows.at(-1)?.["seq"] ?? 0 };
  const beside = ["inbox_body", "inbox_work", "inbox_step", "inbox_failed"].map((table) => [
    table,
    select<TableRow>(db, `SELECT * FROM ${table} WHERE seq BETWEEN :first AND :last`, range),
  ]);
  const isLast = found.length < PAGE_ROWS && rows.length === found.length;
  return {
    rows,
    beside: Object.fromEntries(beside) as CopiedPage["beside"],
    after: isLast ? undefined : Number(range.last),
  };
}

/** The rows before the one with which the bodies would be too many bytes; the first in any case. */
function upToBytes(rows: TableRow[]): TableRow[] {
  let bytes = 0;
  const end = rows.findIndex((row) => (bytes += Number(row["body_length"])) > PAGE_BYTES);
  return end === -1 ? rows : rows.slice(0, Math.max(1, end));
}

/** Each with the id of the event whose handler recorded it. */
function readContactEvents(db: Database, after: number): CopiedPage {
  const rows = select<TableRow>(
    db,
    `SELECT e.*, i.id AS inbox_id FROM outbox_event AS e LEFT JOIN inbox_event AS i ON i.seq = e.inbox_seq
     WHERE e.seq > :after ORDER BY e.seq LIMIT ${PAGE_ROWS}`,
    { after },
  );
  const calls = select<TableRow>(db, "SELECT * FROM outbox_send WHERE send IN (SELECT value FROM json_each(:sends))", {
    sends: JSON.stringify(rows.map((row) => row["send"])),
  });
  return {
    rows,
    beside: { outbox_send: calls },
    after: rows.length < PAGE_ROWS ? undefined : Number(rows.at(-1)?.["seq"]),
  };
}
