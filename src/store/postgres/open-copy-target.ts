import { silentLogger } from "../../base/logger.js";
import { readDatabasePlace } from "../connection-string.js";
import type { CopiedPage, TableRow } from "../sqlite/open-inbox-to-copy.js";
import { writePolicies } from "../queries/handlers.js";
import { noteRemoval } from "../queries/known-ids.js";
import type { HandlerPolicy } from "../store.js";
import { hasOpenStore, lockClassOf } from "./advisory-lock.js";
import { openBesideReceivers } from "./open-beside-receivers.js";
import { createPostgresStore } from "./postgres-store.js";
import { type Sql, toStoredText } from "./sql.js";

/** A database that gets the inbox of another. */
export type CopyTarget = Awaited<ReturnType<typeof openCopyTarget>>;

/**
 * Makes the tables if they are missing. Each call is one transaction, and what is there stays as it is; those with
 * pages return how many rows were new. Rejects as the store does when it is opened.
 */
export async function openCopyTarget(place: string) {
  const { connectionString, schema } = readDatabasePlace(place);
  const store = createPostgresStore({ connectionString, schema });
  try {
    await store.open({ logger: silentLogger, runsHandlers: false });
  } finally {
    await store.close();
  }
  const { database, beside, close } = await openBesideReceivers(place);
  const { read, write } = beside;
  return {
    database,
    hasReceiver: () => read("looking for receivers", (sql) => hasOpenStore(sql, lockClassOf(schema))),
    copyEvents: (page: CopiedPage) => write("copying events", (sql, now) => copyEvents(sql, page, now)),
    copyContactEvents: (page: CopiedPage) =>
      write("copying contact events", (sql, now) => copyContactEvents(sql, page, now)),
    copyPolicies: (policies: readonly HandlerPolicy[]) =>
      write("copying retry policies", (sql) => sql.perform(writePolicies(policies))),
    copyIdsKnownSince: (since: number) => write("copying times", (sql) => sql.perform(noteRemoval(since))),
    close,
  };
}

const INSERT_EVENTS = `
  WITH given AS MATERIALIZED (
    SELECT nextval('pigeonhole.inbox_event_number') AS number, g.*
    FROM json_populate_recordset(NULL::pigeonhole.inbox_event, :rows::json) AS g
  ), stored AS (
    INSERT INTO pigeonhole.inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
    SELECT number, id, type, test, received_at, signed_at, body_length, body_crc FROM given ORDER BY id COLLATE "C"
    ON CONFLICT (id) DO NOTHING RETURNING seq
  )
  SELECT given.seq AS "inFile", stored.seq FROM given JOIN stored ON stored.seq = given.number`;

/** The bodies are one parameter, which is sent as it is; a list of them would be sent as text. */
const INSERT_BODIES = `
  INSERT INTO pigeonhole.inbox_body (seq, body, trace)
  SELECT seq, substring(:bodies::bytea FROM at + 1 FOR length), trace
  FROM unnest(:seqs::bigint[], :ats::integer[], :lengths::integer[], :traces::text[]) AS b (seq, at, length, trace)`;

/**
 * Stores copied events with all that belongs to them, except those whose id is known: they were copied before. Returns
 * how many were new. In one transaction.
 */
async function copyEvents(sql: Sql, { rows, beside }: CopiedPage, now: number): Promise<number> {
  const stored = await sql.rows<{ inFile: number; seq: number }>(INSERT_EVENTS, { rows: toJson(rows) });
  const seqs = new Map<unknown, number>(stored.map(({ inFile, seq }) => [inFile, seq]));
  const renumbered = (table: string): TableRow[] =>
    (beside[table] ?? []).flatMap((row) => {
      const seq = seqs.get(row["seq"]);
      return seq === undefined ? [] : [{ ...row, seq }];
    });
  await insertBodies(sql, renumbered("inbox_body"));
  const work = renumbered("inbox_work").map((row) => freed(row, now));
  await insertRows(sql, "inbox_work", work);
  const done = work.filter((row) => row["state"] === "done" && row["discarded"] === 0).length;
  if (done > 0) await sql.run("INSERT INTO pigeonhole.inbox_done_count (done) VALUES (:done)", { done });
  for (const table of ["inbox_step", "inbox_failed"]) await insertRows(sql, table, renumbered(table));
  return stored.length;
}

/** Texts as all other statements store them. */
function toJson(rows: readonly TableRow[]): string {
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === "string" ? toStoredText(value) : value));
}

/** Inserts rows with the columns that they have; returns how many were new. */
async function insertRows(sql: Sql, table: string, rows: readonly TableRow[]): Promise<number> {
  const [first] = rows;
  if (first === undefined) return 0;
  const columns = Object.keys(first).join(", ");
  return sql.run(
    `INSERT INTO pigeonhole.${table} (${columns})
     SELECT ${columns} FROM json_populate_recordset(NULL::pigeonhole.${table}, :rows::json) ON CONFLICT DO NOTHING`,
    { rows: toJson(rows) },
  );
}

async function insertBodies(sql: Sql, rows: readonly TableRow[]): Promise<void> {
  const bodies = rows.map((row) => row["body"] as Uint8Array);
  let at = 0;
  await sql.run(INSERT_BODIES, {
    seqs: rows.map((row) => row["seq"]),
    ats: bodies.map((body) => (at += body.byteLength) - body.byteLength),
    lengths: bodies.map((body) => body.byteLength),
    traces: rows.map((row) => row["trace"]),
    bodies: Buffer.concat(bodies),
  });
}

/** What was leased is due: its process is gone. */
function freed(row: TableRow, now: number): TableRow {
  const rest = without(row, ["lease", "lease_until"]);
  return rest["state"] === "leased" ? { ...rest, state: "pending", due_at: now } : rest;
}

function without(row: TableRow, columns: readonly string[]): TableRow {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !columns.includes(column)));
}

/** One that a handler recorded has a key that others may have too, as after a retry by hand. */
const SELECT_NEW = `
  SELECT g.seq FROM json_populate_recordset(NULL::pigeonhole.outbox_event, :rows::json) AS g
  WHERE NOT EXISTS (
    SELECT 1 FROM pigeonhole.outbox_event AS e
    WHERE e.key = g.key AND e.recorded_at = g.recorded_at AND e.body = g.body)`;

/** A call whose first members were copied before is there. */
const SELECT_CALLS = "SELECT key, send FROM pigeonhole.outbox_send WHERE key = ANY(:keys)";

/**
 * Stores copied contact events with their calls, except those that are there: they were copied before. Returns how many
 * were new. In one transaction.
 */
async function copyContactEvents(sql: Sql, { rows, beside }: CopiedPage, now: number): Promise<number> {
  const found = await sql.rows<{ seq: number }>(SELECT_NEW, { rows: toJson(rows) });
  const isNew = new Set<unknown>(found.map(({ seq }) => seq));
  const news = rows.filter((row) => isNew.has(row["seq"]));
  const isMember = new Set(news.map((row) => row["send"]));
  const calls = (beside["outbox_send"] ?? []).filter((call) => isMember.has(call["send"] ?? null));
  const sends = await copyCalls(sql, calls, now);
  const events = await sql.rows<{ id: string; seq: number }>(
    "SELECT id, seq FROM pigeonhole.inbox_event WHERE id = ANY(:ids)",
    { ids: news.map((row) => row["inbox_id"]) },
  );
  const seqs = new Map<unknown, number>(events.map(({ id, seq }) => [id, seq]));
  return insertRows(
    sql,
    "outbox_event",
    news.map((row) => ({
      ...without(row, ["seq", "inbox_id"]),
      send: sends.get(row["send"]) ?? null,
      inbox_seq: seqs.get(row["inbox_id"]) ?? null,
    })),
  );
}

/** Returns the number of each call by the one in the file. */
async function copyCalls(sql: Sql, calls: readonly TableRow[], now: number): Promise<Map<unknown, number | undefined>> {
  const read = async (): Promise<Map<unknown, number>> => {
    const found = await sql.rows<{ key: string; send: number }>(SELECT_CALLS, {
      keys: calls.map((call) => call["key"]),
    });
    return new Map(found.map(({ key, send }) => [key, send]));
  };
  const known = await read();
  const news = calls.filter((call) => !known.has(call["key"]));
  await insertRows(
    sql,
    "outbox_send",
    news.map((call) => freed(without(call, ["send"]), now)),
  );
  const sends = news.length === 0 ? known : await read();
  return new Map(calls.map(({ send, key }) => [send, sends.get(key)]));
}
