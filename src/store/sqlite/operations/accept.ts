// As a whole: an import by name fails before anything can say that Node is too old.
import zlib from "node:zlib";
import type { Database } from "better-sqlite3";
import type { AcceptResult, NewEvent } from "../../store.js";
import type { Lease } from "../../work.js";
import type { DirectPairs } from "../direct-pairs.js";
import type { EventNumbers } from "../event-numbers.js";
import type { NextToken } from "../lease-token.js";
import { idBeside, prepareOtherBytes } from "./other-bytes.js";

export interface AcceptTools {
  numbers: EventNumbers;
  pairs: DirectPairs;
  nextToken: NextToken;
}

type EventRow = [
  seq: number,
  id: string,
  type: string,
  test: number,
  receivedAt: number,
  signedAt: number,
  bodyLength: number,
  bodyCrc: number,
  direct: string | null,
];

/**
 * Stores an event, its body and its work; an id that is already there changes nothing, unless its first body was parked and never
 * handled: then another one is kept beside it. Work that comes in leased gets no row from the process that works on the file. This is the
 * hot path: its parameters are bound by position, since binding by name takes as long again as all the rest of it.
 */
export function prepareAccept(db: Database, { numbers, pairs, nextToken }: AcceptTools) {
  const insertEvent = db.prepare<EventRow>(`
    INSERT INTO inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc, direct)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
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
    const crc = zlib.crc32(body);
    const { epoch } = pairs;
    const leased = epoch === undefined ? [] : event.work.filter(({ leaseUntil }) => leaseUntil !== undefined);
    const direct = leased.length === 0 ? null : JSON.stringify(leased.map(({ handler }) => handler));
    const seq = numbers.next;
    const row: EventRow = [seq, id, type, event.test ? 1 : 0, receivedAt, signedAt, length, crc, direct];
    if (insertEvent.run(...row).changes === 0) return acceptAgain(event, length, crc);
    numbers.take();
    pairs.store(seq, leased);
    return { kind: "stored", seq, leases: insertRest(seq, event, epoch), otherBytes: false };
  };

  /** Bodies beside another one are rare, and their work has rows. */
  function acceptAgain(event: NewEvent, length: number, crc: number): AcceptResult {
    const { id, type, receivedAt, signedAt, body, work } = event;
    const known = selectKnown.get(id);
    if (known === undefined || (known.length === length && known.crc === crc)) {
      return { kind: "duplicate", otherBytes: false };
    }
    const ownId = idBeside(id, body);
    if (selectKnown.get(ownId) !== undefined) return { kind: "duplicate", otherBytes: false };
    pairs.flush();
    if (!otherBytes.isUnhandled(known.seq)) return { kind: "duplicate", otherBytes: true };
    const seq = numbers.next;
    insertEvent.run(seq, ownId, type, event.test ? 1 : 0, receivedAt, signedAt, length, crc, null);
    numbers.take();
    pairs.store(seq, []);
    otherBytes.add(
      seq,
      known.seq,
      work.map(({ handler }) => handler),
    );
    return { kind: "stored", seq, leases: insertRest(seq, event, undefined), otherBytes: true };
  }

  /** With an epoch, work that is to be leased is in flight and has no row. */
  function insertRest(seq: number, event: NewEvent, epoch: number | undefined): Lease[] {
    const { receivedAt, body } = event;
    insertBody.run(seq, body);
    const leases: Lease[] = [];
    for (const { handler, leaseUntil } of event.work) {
      if (leaseUntil === undefined) {
        insertPending.run(seq, handler, receivedAt);
      } else if (epoch !== undefined) {
        leases.push({ seq, handler, token: epoch });
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
