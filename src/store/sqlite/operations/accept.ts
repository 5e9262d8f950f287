// The whole module: an import by name fails before Node can be reported as too old.
import zlib from "node:zlib";
import type { Database } from "better-sqlite3";
import { idBeside } from "../../id-beside.js";
import type { AcceptResult, NewEvent } from "../../store.js";
import type { TraceContext } from "../../trace-context.js";
import type { Lease, NewWork } from "../../work.js";
import type { OperationResult } from "../command-result.js";
import { type DirectPairs, INSERT_LEASED_ROW } from "../direct-pairs.js";
import type { EventNumbers } from "../event-numbers.js";
import type { NextToken } from "../lease-token.js";
import { lazy, prepareLater } from "../on-first-use.js";
import { prepareOtherBytes } from "./other-bytes.js";
import { prepareAddNote } from "./parked-note.js";

export interface AcceptTools {
  numbers: EventNumbers;
  pairs: DirectPairs;
  nextToken: NextToken;
}

/**
 * Stores an event, its body and its work. A known id changes nothing, unless its first body was parked and never
 * handled: then another body is kept beside it. Work that is leased as it is accepted gets no row from the process that
 * works on the file. This is the hot path: its parameters are bound by position, because binding by name takes as long
 * as all the rest of it.
 */
export function prepareAccept(db: Database, { numbers, pairs, nextToken }: AcceptTools) {
  const later = prepareLater(db);
  const insertEvent = db.prepare<[number, string, string, number, number, number, number, number, string | null]>(`
    INSERT INTO inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc, direct)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`);
  const insertBody = db.prepare<[number, Uint8Array, TraceContext | null]>(
    "INSERT INTO inbox_body (seq, body, trace) VALUES (?, ?, ?)",
  );
  const insertPending = later<[number, string, number]>(`
    INSERT INTO inbox_work (seq, handler, state, due_at, started, finished) VALUES (?, ?, 'pending', ?, 0, 0)`);
  const insertLeased = later<[number, string, number, number]>(`
    ${INSERT_LEASED_ROW} VALUES (?, ?, ?, ?, 1, 0, 'leased')`);
  const addNote = prepareAddNote(db);
  const selectKnown = later<[string], { seq: number; length: number; crc: number }>(
    "SELECT seq, body_length AS length, body_crc AS crc FROM inbox_event WHERE id = ?",
  );
  const otherBytes = lazy(() => prepareOtherBytes(db));

  /** Returns the event's number alone where that is enough: its leases have the epoch as token. */
  return (event: NewEvent): number | OperationResult => {
    const { id, type, receivedAt, signedAt, body } = event;
    const crc = zlib.crc32(body);
    const { epoch } = pairs;
    const { leased, lastUntil } = leasedOf(epoch === undefined ? [] : event.work);
    const seq = numbers.next;
    const test = event.test ? 1 : 0;
    const direct = leased.length === 0 ? null : JSON.stringify(leased);
    const { changes } = insertEvent.run(seq, id, type, test, receivedAt, signedAt, body.byteLength, crc, direct);
    if (changes === 0) return { ok: true, value: acceptAgain(event, crc) };
    numbers.take();
    pairs.store(seq, leased, lastUntil);
    const leases = insertRest(seq, event, epoch !== undefined);
    return epoch === undefined ? { ok: true, value: { kind: "stored", seq, leases, otherBytes: false } } : seq;
  };

  /** Bodies beside another one are rare, and their work has rows. */
  function acceptAgain(event: NewEvent, crc: number): AcceptResult {
    const { id, type, receivedAt, signedAt, body, work } = event;
    const length = body.byteLength;
    const known = selectKnown().get(id);
    if (known === undefined || (known.length === length && known.crc === crc)) {
      return { kind: "duplicate", otherBytes: false };
    }
    const ownId = idBeside(id, body);
    if (selectKnown().get(ownId) !== undefined) return { kind: "duplicate", otherBytes: false };
    pairs.flush();
    if (!otherBytes().isUnhandled(known.seq)) return { kind: "duplicate", otherBytes: true };
    const seq = numbers.next;
    insertEvent.run(seq, ownId, type, event.test ? 1 : 0, receivedAt, signedAt, length, crc, null);
    numbers.take();
    pairs.store(seq, [], 0);
    const handlers = work.map(({ handler }) => handler);
    otherBytes().add(seq, known.seq, handlers);
    return { kind: "stored", seq, leases: insertRest(seq, event, false), otherBytes: true };
  }

  /** Work that is to be leased gets rows unless it is direct; returns the leases of those rows. */
  function insertRest(seq: number, event: NewEvent, isDirect: boolean): Lease[] {
    const { receivedAt, body, work, parked, trace } = event;
    insertBody.run(seq, body, trace ?? null);
    const leases: Lease[] = [];
    for (const { handler, leaseUntil } of work) {
      if (leaseUntil === undefined) {
        insertPending().run(seq, handler, receivedAt);
      } else if (!isDirect) {
        const token = nextToken();
        insertLeased().run(seq, handler, token, leaseUntil);
        leases.push({ seq, handler, token });
      }
    }
    if (parked !== undefined) addNote({ seq, at: receivedAt }, parked);
    return leases;
  }
}

/** The handlers that asked for a lease, and when the last lease ends. */
function leasedOf(work: readonly NewWork[]): { leased: string[]; lastUntil: number } {
  const leased: string[] = [];
  let lastUntil = 0;
  for (const { handler, leaseUntil } of work) {
    if (leaseUntil === undefined) continue;
    leased.push(handler);
    lastUntil = Math.max(lastUntil, leaseUntil);
  }
  return { leased, lastUntil };
}
