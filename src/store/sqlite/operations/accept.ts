import { crc32 } from "node:zlib";
import type { Database } from "better-sqlite3";
import type { AcceptResult, NewEvent } from "../../store.js";
import type { Lease } from "../../work.js";
import type { NextToken } from "../lease-token.js";
import { idBeside, prepareOtherBytes } from "./other-bytes.js";

/**
 * Stores an event, its body and its work; an id that is already there changes nothing, unless its first body was parked and never
 * handled: then another one is kept beside it. This is the hot path: its parameters are
 * bound by position, since binding by name takes as long again as all the rest of it.
 */
export function prepareAccept(db: Database, nextToken: NextToken) {
  const insertEvent = db.prepare<[string, string, number, number, number, number, number]>(`
    INSERT INTO inbox_event (id, type, test, received_at, signed_at, body_length, body_crc)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`);
  const insertBody = db.prepare<[number, Uint8Array]>("INSERT INTO inbox_body (seq, body) VALUES (?, ?)");
  const insertPending = db.prepare<[number, string, number]>(`
    INSERT INTO inbox_work (seq, handler, state, due_at, started, finished) VALUES (?, ?, 'pending', ?, 0, 0)`);
  const insertLeased = db.prepare<[number, string, number, number]>(`
    INSERT INTO inbox_work (seq, handler, state, lease, lease_until, started, finished)
    VALUES (?, ?, 'leased', ?, ?, 1, 0)`);
  const insertParked = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, settled_at, started, finished, reason, error)
    VALUES (:seq, '', 'parked', :at, 0, 0, :reason, :error)`);
  const selectKnown = db.prepare<[string], { seq: number; length: number; crc: number }>(
    "SELECT seq, body_length AS length, body_crc AS crc FROM inbox_event WHERE id = ?",
  );
  const otherBytes = prepareOtherBytes(db);

  return (event: NewEvent): AcceptResult => {
    const { id, type, receivedAt, signedAt, body } = event;
    const length = body.byteLength;
    const crc = crc32(body);
    const inserted = insertEvent.run(id, type, event.test ? 1 : 0, receivedAt, signedAt, length, crc);
    if (inserted.changes === 0) return acceptAgain(event, length, crc);
    const seq = Number(inserted.lastInsertRowid);
    return { kind: "stored", seq, leases: insertRest(seq, event), otherBytes: false };
  };

  function acceptAgain(event: NewEvent, length: number, crc: number): AcceptResult {
    const { id, type, receivedAt, signedAt, body, work } = event;
    const known = selectKnown.get(id);
    if (known === undefined || (known.length === length && known.crc === crc)) {
      return { kind: "duplicate", otherBytes: false };
    }
    const ownId = idBeside(id, body);
    if (selectKnown.get(ownId) !== undefined) return { kind: "duplicate", otherBytes: false };
    if (!otherBytes.isUnhandled(known.seq)) return { kind: "duplicate", otherBytes: true };
    const inserted = insertEvent.run(ownId, type, event.test ? 1 : 0, receivedAt, signedAt, length, crc);
    const seq = Number(inserted.lastInsertRowid);
    otherBytes.add(
      seq,
      known.seq,
      work.map(({ handler }) => handler),
    );
    return { kind: "stored", seq, leases: insertRest(seq, event), otherBytes: true };
  }

  function insertRest(seq: number, event: NewEvent): Lease[] {
    const { receivedAt, body } = event;
    insertBody.run(seq, body);
    const leases: Lease[] = [];
    for (const { handler, leaseUntil } of event.work) {
      if (leaseUntil === undefined) {
        insertPending.run(seq, handler, receivedAt);
      } else {
        const token = nextToken();
        insertLeased.run(seq, handler, token, leaseUntil);
        leases.push({ seq, handler, token });
      }
    }
    if (event.parked !== undefined) {
      insertParked.run({ seq, at: receivedAt, reason: event.parked.reason, error: event.parked.detail });
    }
    return leases;
  }
}
