import type { Database } from "better-sqlite3";
import { crc32 } from "../../../base/crc32.js";
import { digestOf } from "../../queries/newest.js";
import type { NewEvent } from "../../store.js";
import type { TraceContext } from "../../trace-context.js";
import { addNote, removeUnhandled } from "../../queries/replan.js";
import { prepareLater } from "../on-first-use.js";
import { runInFile } from "../run-in-file.js";

/** The number of a new event, or what is known of its id. `instead`: its bytes took the place of others of the id. */
export type Accepted = number | { instead: number } | { duplicate: "same" | "other_bytes" };

/**
 * Stores an event, its body and its work; the first of its work that is leased has the token `token`, and the next ones
 * count up. A known id changes nothing, unless its event is parked and was never handled: then other bytes that are
 * understood take its place. This is the hot path: its parameters are bound by position, because binding by name takes
 * as long as all the rest of it.
 */
export function prepareAccept(db: Database) {
  const later = prepareLater(db);
  const insertEvent = db.prepare<[string, string, number, number, number, number, number]>(`
    INSERT INTO inbox_event (id, type, test, received_at, signed_at, body_length, body_crc)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`);
  const insertBody = db.prepare<[number, Uint8Array, TraceContext | null]>(
    "INSERT INTO inbox_body (seq, body, trace) VALUES (?, ?, ?)",
  );
  const insertPending = later<[number, string, number]>(`
    INSERT INTO inbox_work (seq, handler, state, due_at, started, finished) VALUES (?, ?, 'pending', ?, 0, 0)`);
  const insertLeased = later<[number, string, number, number]>(`
    INSERT INTO inbox_work (seq, handler, state, lease, lease_until, started, finished)
    VALUES (?, ?, 'leased', ?, ?, 1, 0)`);
  const setNewest = later<[string, number, number, string]>(
    "UPDATE inbox_work SET newest_key = ?, created_at = ? WHERE seq = ? AND handler = ?",
  );
  const selectKnown = later<[string], { seq: number; length: number; crc: number }>(
    "SELECT seq, body_length AS length, body_crc AS crc FROM inbox_event WHERE id = ?",
  );

  return (event: NewEvent, token: number): Accepted => {
    const crc = crc32(event.body);
    return insert(event, crc, token) ?? acceptAgain(event, crc, token);
  };

  /** Undefined when the id is known. */
  function insert(event: NewEvent, crc: number, token: number): number | undefined {
    const { id, type, test, receivedAt, signedAt, body, work, parked, trace } = event;
    const stored = insertEvent.run(id, type, test ? 1 : 0, receivedAt, signedAt, body.byteLength, crc);
    if (stored.changes === 0) return undefined;
    const seq = Number(stored.lastInsertRowid);
    insertBody.run(seq, body, trace ?? null);
    let next = token;
    for (const { handler, leaseUntil, newest } of work) {
      if (leaseUntil === undefined) insertPending().run(seq, handler, receivedAt);
      else insertLeased().run(seq, handler, next++, leaseUntil);
      if (newest !== undefined) setNewest().run(digestOf(newest.key), newest.createdAt, seq, handler);
    }
    if (parked !== undefined) runInFile(db, addNote({ seq, now: receivedAt }, parked));
    return seq;
  }

  function acceptAgain(event: NewEvent, crc: number, token: number): Accepted {
    const { id, body } = event;
    const known = selectKnown().get(id);
    if (known === undefined || (known.length === body.byteLength && known.crc === crc)) return { duplicate: "same" };
    const gives = event.parked === undefined && runInFile(db, removeUnhandled(known.seq));
    const instead = gives ? insert(event, crc, token) : undefined;
    return instead === undefined ? { duplicate: "other_bytes" } : { instead };
  }
}
