import { crc32 } from "node:zlib";
import type { Database } from "better-sqlite3";
import type { AcceptResult, NewEvent } from "../../store.js";
import type { Lease } from "../../work.js";
import type { NextToken } from "../lease-token.js";

/** Stores an event, its body and its work; an id that is already there changes nothing. */
export function prepareAccept(db: Database, nextToken: NextToken) {
  const insertEvent = db.prepare(`
    INSERT INTO inbox_event (id, type, test, received_at, signed_at, body_length, body_crc)
    VALUES (:id, :type, :test, :receivedAt, :signedAt, :bodyLength, :bodyCrc)
    ON CONFLICT (id) DO NOTHING`);
  const insertBody = db.prepare("INSERT INTO inbox_body (seq, body) VALUES (:seq, :body)");
  const insertPending = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, due_at, started, finished)
    VALUES (:seq, :handler, 'pending', :dueAt, 0, 0)`);
  const insertLeased = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, lease, lease_until, started, finished)
    VALUES (:seq, :handler, 'leased', :lease, :leaseUntil, 1, 0)`);
  const insertParked = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, settled_at, started, finished, reason, error)
    VALUES (:seq, '', 'parked', :at, 0, 0, :reason, :error)`);
  const sameBytes = db.prepare<{ id: string; bodyLength: number; bodyCrc: number }>(`
    SELECT 1 FROM inbox_event WHERE id = :id AND body_length = :bodyLength AND body_crc = :bodyCrc`);

  return (event: NewEvent): AcceptResult => {
    const fingerprint = { id: event.id, bodyLength: event.body.byteLength, bodyCrc: crc32(event.body) };
    const inserted = insertEvent.run({
      ...fingerprint,
      type: event.type,
      test: event.test ? 1 : 0,
      receivedAt: event.receivedAt,
      signedAt: event.signedAt,
    });
    if (inserted.changes === 0) return { kind: "duplicate", otherBytes: sameBytes.get(fingerprint) === undefined };

    const seq = Number(inserted.lastInsertRowid);
    insertBody.run({ seq, body: event.body });
    const leases: Lease[] = [];
    for (const { handler, leaseUntil } of event.work) {
      if (leaseUntil === undefined) {
        insertPending.run({ seq, handler, dueAt: event.receivedAt });
      } else {
        const token = nextToken();
        insertLeased.run({ seq, handler, lease: token, leaseUntil });
        leases.push({ seq, handler, token });
      }
    }
    if (event.parked !== undefined) {
      insertParked.run({ seq, at: event.receivedAt, reason: event.parked.reason, error: event.parked.detail });
    }
    return { kind: "stored", seq, leases };
  };
}
