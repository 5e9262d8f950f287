import { createHash } from "node:crypto";
import type { Lease, NewestKey, NewestResult } from "../work.js";
import { MAY_END, SUPERSEDE } from "./ending-work.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

interface Found {
  seq: number;
  id: string;
  key: string | null;
  createdAt: number | null;
}

const SELECT = `
  SELECT w.seq, e.id, w.newest_key AS key, w.created_at AS "createdAt"
  FROM pigeonhole.inbox_work AS w JOIN pigeonhole.inbox_event AS e ON e.seq = w.seq`;

const OF_KEY = "w.handler = :handler AND w.newest_key = :key";

/** What a person discarded before it ran has no result that an older one could replace. Superseded work counts. */
const SELECT_NEWEST = `${SELECT}
  WHERE ${OF_KEY} AND (w.created_at, w.seq) > (:createdAt::bigint, :seq::bigint)
    AND NOT (w.discarded AND w.reason IS NULL AND w.started = 0)
  ORDER BY w.created_at DESC, w.seq DESC LIMIT 1`;

/** Deliveries wait for the transaction. */
const MAX_ENDED = 500;

/**
 * More of them, and rows that a person changes at the moment, end when they would begin. `+`: by the index of what is
 * open, not by that of times, which would read all that is done.
 */
const SELECT_OLDER = `
  SELECT w.seq FROM pigeonhole.inbox_work AS w
  WHERE ${OF_KEY} AND w.${MAY_END} AND (+w.created_at, w.seq) < (:createdAt::bigint, :seq::bigint)
  ORDER BY w.seq LIMIT ${MAX_ENDED} FOR UPDATE OF w SKIP LOCKED`;

/**
 * Whether leased work is for the newest event of its key; ends it, and all that waits or is stuck, for older ones. The
 * key is stored again: that of the time of acceptance may be another one, or none. In one transaction.
 */
export function* beginNewest(begin: { lease: Lease; of: NewestKey; now: number }): StoreQuery<NewestResult> {
  const { lease, of, now } = begin;
  const { seq, handler, token } = lease;
  const { createdAt } = of;
  const own = { seq, handler, key: digestOf(of.key), createdAt };
  const held = yield* readFirst<Found>(
    `${SELECT} WHERE w.seq = :seq AND w.handler = :handler AND w.state = 'leased' AND w.lease = :token FOR UPDATE OF w`,
    { seq, handler, token },
  );
  if (held === undefined) return "lost";
  if (held.key !== own.key || held.createdAt !== createdAt) {
    const set = "newest_key = :key, created_at = :createdAt::bigint";
    yield* run(`UPDATE pigeonhole.inbox_work SET ${set} WHERE seq = :seq AND handler = :handler`, own);
  }
  const newer = yield* readFirst<Found>(SELECT_NEWEST, own);
  const newest = newer ?? { ...held, createdAt };
  const older = yield* readRows<{ seq: number }>(SELECT_OLDER, {
    ...own,
    seq: newest.seq,
    createdAt: newest.createdAt,
  });
  const seqs = older.map((row) => row.seq);
  if (newer !== undefined) seqs.push(seq);
  if (seqs.length > 0) {
    const error = `${newest.id} is newer`;
    const where = "handler = :handler AND seq = ANY(:seqs)";
    yield* run(`UPDATE pigeonhole.inbox_work SET ${SUPERSEDE} WHERE ${where}`, { handler, seqs, error, now });
  }
  return newer === undefined ? "newest" : "superseded";
}

/** A key as it is stored. Keys may be of any length, which an index does not take, and may be addresses. */
export function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}
