import type { PruneLimits, StoreContext } from "../../store.js";
import type { Sql } from "../sql.js";
import { NO_SLOT, bodiesIn, firstSeqIn, readSlots } from "./body-slots.js";
import { SlotRound } from "./empty-slots.js";
import { type KeyRow, removeKeys } from "./keys.js";
import { noteRemoval } from "../../queries/known-ids.js";
import { runOnServer } from "../run-on-server.js";
import { LOCK_EVENTS } from "./lock-events.js";

/** A kind of row that retention removes. */
interface Kind {
  /** Reads rows after a number, oldest first. `since`: later than `receivedAt` if the clock was behind then. */
  select: string;
  /** Of the rows numbered `:seqs`, those that may go. They are locked first, so that no process plans work for them. */
  lock: string;
  mayGo: string;
  remove: readonly string[];
}

interface PruneRow {
  seq: number;
  receivedAt: number;
  since: number;
}

const IS_SETTLED = "NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.seq = r.seq AND w.state <> 'done')";

const REMOVE_TEXTS = [
  "DELETE FROM pigeonhole.inbox_failed WHERE seq = ANY(:seqs)",
  "DELETE FROM pigeonhole.inbox_step WHERE seq = ANY(:seqs)",
];
const REMOVE_BODIES = ["DELETE FROM pigeonhole.inbox_body WHERE seq = ANY(:seqs)", ...REMOVE_TEXTS];

const MAY_GO = `SELECT seq FROM pigeonhole.inbox_event AS r WHERE seq = ANY(:seqs) AND ${IS_SETTLED}`;

/** Of the bodies of one id, the first is removed last, and none while one of them is not settled. */
const EVENT: Kind = {
  select: `
    SELECT seq, received_at AS "receivedAt", greatest(received_at, signed_at) AS since FROM pigeonhole.inbox_event
    WHERE seq > :after AND seq < :end ORDER BY seq LIMIT :batch`,
  lock: LOCK_EVENTS,
  mayGo: `
    SELECT seq FROM pigeonhole.inbox_event AS r WHERE seq = ANY(:seqs) AND ${IS_SETTLED}
      AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_other AS o WHERE o.first = r.seq)
      AND NOT EXISTS (
        SELECT 1 FROM pigeonhole.inbox_other AS o JOIN pigeonhole.inbox_other AS s ON s.first = o.first
          JOIN pigeonhole.inbox_work AS w ON w.seq IN (s.seq, s.first) AND w.state <> 'done'
        WHERE o.seq = r.seq)`,
  remove: [
    ...REMOVE_BODIES,
    "DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs)",
    `UPDATE pigeonhole.inbox_holder AS h SET seq = 0 FROM pigeonhole.inbox_other AS o
     WHERE o.seq = ANY(:seqs) AND h.seq = o.seq AND h.first = o.first`,
    "DELETE FROM pigeonhole.inbox_holder WHERE first = ANY(:seqs)",
    "DELETE FROM pigeonhole.inbox_other WHERE seq = ANY(:seqs)",
    "DELETE FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs)",
  ],
};

const bodyIn = (slot: number): Kind => ({
  select: `
    SELECT r.seq, e.received_at AS "receivedAt", e.received_at AS since
    FROM ONLY ${bodiesIn(slot)} AS r JOIN pigeonhole.inbox_event AS e ON e.seq = r.seq
    WHERE r.seq > :after ORDER BY r.seq LIMIT :batch`,
  lock: LOCK_EVENTS,
  mayGo: MAY_GO,
  remove: REMOVE_BODIES,
});

/** Errors in full and names of steps, which may quote a body: also of one that ends with its slot. */
const TEXTS: Kind = {
  select: `
    SELECT e.seq, e.received_at AS "receivedAt", e.received_at AS since FROM (
      (SELECT DISTINCT seq FROM pigeonhole.inbox_failed WHERE seq > :after ORDER BY seq LIMIT :batch)
      UNION (SELECT DISTINCT seq FROM pigeonhole.inbox_step WHERE seq > :after ORDER BY seq LIMIT :batch)
    ) AS r JOIN pigeonhole.inbox_event AS e ON e.seq = r.seq ORDER BY e.seq LIMIT :batch`,
  lock: LOCK_EVENTS,
  mayGo: MAY_GO,
  remove: REMOVE_TEXTS,
};

/** A discarded event keeps its place in a call that may be repeated. */
const SENT: Kind = {
  select: `
    SELECT seq, recorded_at AS "receivedAt", recorded_at AS since FROM pigeonhole.outbox_event
    WHERE seq > :after ORDER BY seq LIMIT :batch`,
  lock: "SELECT seq FROM pigeonhole.outbox_event WHERE seq = ANY(:seqs) ORDER BY seq FOR UPDATE",
  mayGo: "SELECT seq FROM pigeonhole.outbox_event WHERE seq = ANY(:seqs) AND state = 'done' AND send IS NULL",
  remove: ["DELETE FROM pigeonhole.outbox_event WHERE seq = ANY(:seqs)"],
};

/**
 * Removes what retention no longer keeps, a small batch at a time, oldest first. Each kind of row has a position that
 * earlier batches have reached, so that rows which must stay are not read again until the round is over.
 */
export class PruneRound {
  readonly #slots: SlotRound;
  /** Events below it are removed one by one. Those from there on have bodies that end with their slot, and stay. */
  #end: number | undefined;
  #bodies: readonly Kind[] = [];
  readonly #after = new Map<Kind, number>();
  #afterKey: KeyRow | undefined;

  constructor(onAlarm: StoreContext["onAlarm"]) {
    this.#slots = new SlotRound(onAlarm);
  }

  /** Returns how many rows it checked; 0 when the round is over. */
  async prune(sql: Sql, limits: PruneLimits): Promise<number> {
    const seen = (await this.#slots.step(sql, limits)) || (await this.#sweepRows(sql, limits));
    // All at once: otherwise every batch of one kind would begin by reading the same rows of another kind again.
    if (seen === 0) {
      this.#slots.begin();
      this.#end = undefined;
      this.#after.clear();
      this.#afterKey = undefined;
    }
    return seen;
  }

  async #sweepRows(sql: Sql, limits: PruneLimits): Promise<number> {
    const { idsBefore, bodiesBefore, sentBefore } = limits;
    if (this.#end === undefined) {
      await runOnServer(sql, noteRemoval(idsBefore));
      const { current, closed } = await readSlots(sql);
      // The current one may stay it for long.
      this.#bodies = [...new Set([NO_SLOT, current])].map(bodyIn);
      this.#end = await firstSeqIn(sql, closed);
    }
    const seen = await this.#sweep(sql, EVENT, idsBefore, { ...limits, end: this.#end });
    if (seen > 0) return seen;
    for (const kind of [...this.#bodies, TEXTS]) {
      const checked = await this.#sweep(sql, kind, bodiesBefore, limits);
      if (checked > 0) return checked;
    }
    return (await this.#sweep(sql, SENT, sentBefore, limits)) || this.#sweepKeys(sql, limits.batch);
  }

  async #sweepKeys(sql: Sql, batch: number): Promise<number> {
    const checked = await removeKeys(sql, this.#afterKey, batch);
    this.#afterKey = checked.at(-1) ?? this.#afterKey;
    return checked.length;
  }

  async #sweep(sql: Sql, kind: Kind, before: number, limits: PruneLimits & { end?: number }) {
    const { now, ...page } = limits;
    const rows = await sql.rows<PruneRow>(kind.select, { ...page, after: this.#after.get(kind) ?? 0 });
    const young = rows.findIndex(({ receivedAt }) => receivedAt >= before && receivedAt <= now);
    const seen = young === -1 ? rows : rows.slice(0, young);
    const last = seen.at(-1);
    if (last === undefined) return 0;
    // Rows received while the clock was ahead are passed: otherwise they would keep those behind them for as long.
    const old = seen.filter(({ receivedAt, since }) => receivedAt <= now && since < before);
    if (old.length > 0) await removeRows(sql, kind, old);
    this.#after.set(kind, last.seq);
    return seen.length;
  }
}

function removeRows(sql: Sql, kind: Kind, rows: readonly PruneRow[]): Promise<void> {
  return sql.transaction(async () => {
    const asked = { seqs: rows.map(({ seq }) => seq) };
    await sql.run(kind.lock, asked);
    const removable = await sql.rows<{ seq: number }>(kind.mayGo, asked);
    if (removable.length === 0) return;
    const seqs = removable.map(({ seq }) => seq);
    for (const removal of kind.remove) await sql.run(removal, { seqs });
  });
}
