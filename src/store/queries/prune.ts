import type { PruneLimits } from "../store.js";
import { noteRemoval } from "./known-ids.js";
import { type StoreQuery, lockEvents, readRows, run } from "./store-query.js";

/** A kind of row that retention removes. */
interface PrunedKind {
  /** Reads rows after a number, oldest first. `since`: later than `receivedAt` if the clock was behind then. */
  select: string;
  /** Of the rows numbered `:seqs`, those that may go. */
  mayGo: string;
  remove: readonly string[];
}

interface PrunedRow {
  seq: number;
  receivedAt: number;
  since: number;
}

/** No handler runs on the event, and none will. */
const IS_SETTLED = "NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.seq = r.seq AND w.state <> 'done')";
const MAY_GO = `SELECT seq FROM pigeonhole.inbox_event AS r WHERE seq = ANY(:seqs) AND ${IS_SETTLED}`;

/** With the errors in full and the names of steps, which may quote the body. */
const REMOVE_BODIES = ["inbox_body", "inbox_failed", "inbox_step"].map(
  (table) => `DELETE FROM pigeonhole.${table} WHERE seq = ANY(:seqs)`,
);

const EVENTS: PrunedKind = {
  select: `
    SELECT seq, received_at AS "receivedAt", greatest(received_at, signed_at) AS since FROM pigeonhole.inbox_event
    WHERE seq > :after ORDER BY seq LIMIT :batch`,
  mayGo: MAY_GO,
  remove: [
    ...REMOVE_BODIES,
    "DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs)",
    "DELETE FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs)",
  ],
};

const BODIES: PrunedKind = {
  select: `
    SELECT r.seq, e.received_at AS "receivedAt", e.received_at AS since
    FROM pigeonhole.inbox_body AS r JOIN pigeonhole.inbox_event AS e ON e.seq = r.seq
    WHERE r.seq > :after ORDER BY r.seq LIMIT :batch`,
  mayGo: MAY_GO,
  remove: REMOVE_BODIES,
};

/** A discarded contact event keeps its place in a call that may be repeated. */
const SENT: PrunedKind = {
  select: `
    SELECT seq, recorded_at AS "receivedAt", recorded_at AS since FROM pigeonhole.outbox_event
    WHERE seq > :after ORDER BY seq LIMIT :batch`,
  mayGo: `
    SELECT seq FROM pigeonhole.outbox_event WHERE seq = ANY(:seqs) AND state = 'done' AND send IS NULL
    ORDER BY seq FOR UPDATE`,
  remove: ["DELETE FROM pigeonhole.outbox_event WHERE seq = ANY(:seqs)"],
};

/** Up to which number a round has checked the rows of a kind. */
export type PrunedTo = Map<PrunedKind, number>;

/**
 * Checks a small batch of rows of one kind, oldest first, and removes those that may go. Returns how many it checked; 0
 * when the round is over. Each kind has a position that earlier batches have reached, so that rows which must stay are
 * not read again in this round. In one transaction.
 */
export function* pruneBatch(limits: PruneLimits, reached: PrunedTo): StoreQuery<number> {
  // Each time: a round that failed goes on with later limits.
  yield* noteRemoval(limits.idsBefore);
  const checked = yield* sweep(limits, reached);
  if (checked === 0) reached.clear();
  return checked;
}

function* sweep(limits: PruneLimits, reached: PrunedTo): StoreQuery<number> {
  const kinds = [
    [EVENTS, limits.idsBefore],
    [BODIES, limits.bodiesBefore],
    [SENT, limits.sentBefore],
  ] as const;
  for (const [kind, before] of kinds) {
    const rows = yield* readRows<PrunedRow>(kind.select, { ...limits, after: reached.get(kind) ?? 0 });
    const young = rows.findIndex(({ receivedAt }) => receivedAt >= before && receivedAt <= limits.now);
    const seen = young === -1 ? rows : rows.slice(0, young);
    const last = seen.at(-1);
    if (last === undefined) continue;
    // Rows received while the clock was ahead are passed: otherwise they would keep those behind them for as long.
    const old = seen.filter(({ receivedAt, since }) => receivedAt <= limits.now && since < before);
    const seqs = old.map(({ seq }) => seq);
    // No process plans work for events meanwhile, or removes them.
    if (kind !== SENT) yield* lockEvents(seqs);
    yield* removeRows(kind, seqs);
    reached.set(kind, last.seq);
    return seen.length;
  }
  return 0;
}

function* removeRows(kind: PrunedKind, old: readonly number[]): StoreQuery<void> {
  const seqs = (yield* readRows<{ seq: number }>(kind.mayGo, { seqs: old })).map(({ seq }) => seq);
  if (seqs.length === 0) return;
  for (const removal of kind.remove) yield* run(removal, { seqs });
}
