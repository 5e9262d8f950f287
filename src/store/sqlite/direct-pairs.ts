import type { Database } from "better-sqlite3";
import type { Lease } from "../work.js";
import { groupMarks } from "./group-marks.js";
import { lazy, prepareLater } from "./on-first-use.js";

/**
 * The beginning of a statement that writes leased rows: number, handler, lease, end of the lease, 1, 0 and 'leased'
 * follow.
 */
export const INSERT_LEASED_ROW = "INSERT INTO inbox_work (seq, handler, lease, lease_until, started, finished, state)";

/**
 * The pair in flight, unless another process has taken the file over since the epoch that is its token; bind `:seq`,
 * `:handler` and `:token`.
 */
export const FROM_OWN_PAIR = `FROM inbox_in_flight
    WHERE seq = :seq AND handler = :handler AND (SELECT value FROM counter WHERE name = 'epoch') = :token`;

/** The lease of a row that was left behind by a dead process, or by this one too long ago. */
const ENDED = 0;

interface OpenEvent {
  /** Handlers whose pair with the event is in flight. */
  handlers: string[];
  leaseUntil: number;
}

/**
 * Direct pairs: an event and a handler whose work was leased as it was accepted, and has no row. They are in flight
 * until a mark says that they are done, or until they get a row because they have to wait. The epoch of the file is
 * their lease token: a process that takes the file over increments it, and every change here checks it in its own
 * transaction. One object per writing connection; what it remembers of a failed transaction is undone.
 */
export class DirectPairs {
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** The pairs in flight here, in the order of the numbers. */
  #open = new Map<number, OpenEvent>();
  /** The highest number that this connection has stored. */
  #newest = 0;
  /** Since the transaction began. */
  readonly #stored: number[] = [];
  readonly #removed: [seq: number, handler: string, leaseUntil: number][] = [];
  /** Done and not marked yet: numbers by handler. */
  readonly #ended = new Map<string, number[]>();
  #endedAt = 0;
  #own: number | undefined;
  #isOwn: boolean | undefined;

  constructor(db: Database) {
    this.#statements = prepareStatements(db);
  }

  /** A transaction begins. */
  begin(): void {
    this.#isOwn = undefined;
    if (this.epoch !== undefined) this.#statements.setSettledThrough.run({ seq: this.#settledThrough });
  }

  /** The transaction was committed. */
  committed(): void {
    this.#newest = this.#stored.at(-1) ?? this.#newest;
    this.#stored.length = 0;
    this.#removed.length = 0;
  }

  rolledBack(): void {
    for (const seq of this.#stored) this.#open.delete(seq);
    for (const [seq, handler, leaseUntil] of this.#removed) {
      const event = this.#open.get(seq);
      if (event === undefined) this.#open.set(seq, { handlers: [handler], leaseUntil });
      else event.handlers.push(handler);
    }
    this.#open = new Map([...this.#open].toSorted(([a], [b]) => a - b));
    this.#stored.length = 0;
    this.#removed.length = 0;
    this.#ended.clear();
  }

  /** The epoch that this connection has begun, also when it is over. */
  get ownEpoch(): number | undefined {
    return this.#own;
  }

  /** The epoch that this connection has begun, unless another process has taken the file over since. */
  get epoch(): number | undefined {
    if (this.#own === undefined) return undefined;
    this.#isOwn ??= this.#statements.epoch.get() === this.#own;
    return this.#isOwn ? this.#own : undefined;
  }

  /** True once another process has taken the file over, whether this one knows it or not. */
  get hasLostEpoch(): boolean {
    return this.#own !== undefined && this.epoch === undefined;
  }

  /**
   * Continues the epoch of an earlier connection of this process, unless another process has taken the file over since.
   */
  resume(epoch: number, leaseUntil: number): boolean {
    if (this.#statements.epoch.get() !== epoch) return false;
    this.#own = epoch;
    this.#isOwn = true;
    for (const { seq, handler } of this.#statements.selectInFlight().all()) {
      const event = this.#open.get(seq);
      if (event === undefined) this.#open.set(seq, { handlers: [handler], leaseUntil });
      else event.handlers.push(handler);
    }
    return true;
  }

  /** Begins an epoch. Pairs in flight belong to a dead process and get rows whose leases have ended. */
  takeOver(): void {
    const { epoch, setEpoch, addAllRows, settleAll } = this.#statements;
    addAllRows.run();
    settleAll.run();
    this.#open.clear();
    this.#own = (epoch.get() ?? 0) + 1;
    this.#isOwn = true;
    setEpoch.run(this.#own);
  }

  /** An event was stored; its work for `handlers` is in flight from now on. */
  store(seq: number, handlers: string[], leaseUntil: number): void {
    this.#stored.push(seq);
    if (handlers.length > 0) this.#open.set(seq, { handlers, leaseUntil });
  }

  /** Notes that the handler has done its work; {@link flush} writes it. False when the pair is not in flight. */
  end(lease: Lease, at: number): boolean {
    if (!this.#remove(lease)) return false;
    const { seq, handler } = lease;
    const numbers = this.#ended.get(handler);
    if (numbers === undefined) this.#ended.set(handler, [seq]);
    else numbers.push(seq);
    this.#endedAt = at;
    return true;
  }

  /** Writes the marks. Call it before the marks are read, and before the commit. */
  flush(): void {
    if (this.#ended.size === 0) return;
    for (const [handler, numbers] of this.#ended) {
      for (const { first, last, bits } of groupMarks(numbers)) {
        this.#statements.addMark().run(handler, first, last, bits, this.#endedAt);
      }
    }
    this.#ended.clear();
  }

  /** Gives the pair a row under the same lease, if it is in flight. */
  addRow(lease: Lease, leaseUntil: number): void {
    this.flush();
    this.#remove(lease);
    this.#statements.addRow(lease, leaseUntil);
  }

  /** Pairs whose lease ended before `now` get rows whose lease has ended. */
  expire(now: number): void {
    const token = this.epoch;
    if (token === undefined) return;
    const late = [...this.#open].filter(([, { leaseUntil }]) => leaseUntil < now);
    const leases = late.flatMap(([seq, { handlers }]) => handlers.map((handler) => ({ seq, handler, token })));
    for (const lease of leases) this.addRow(lease, ENDED);
  }

  /** Shortens the leases that end later than this. */
  shortenLeases(leaseUntil: number): void {
    for (const event of this.#open.values()) event.leaseUntil = Math.min(event.leaseUntil, leaseUntil);
  }

  /** Another connection of this process has ended the pair. */
  forget({ seq, handler, token }: Lease): void {
    if (token === this.#own) this.#drop(seq, handler);
  }

  /** Up to this number nothing is in flight, and no earlier transaction can still add anything. */
  get #settledThrough(): number {
    const oldest = this.#open.keys().next();
    return oldest.done === true ? this.#newest : oldest.value - 1;
  }

  #remove({ seq, handler, token }: Lease): boolean {
    if (token !== this.epoch) return false;
    const leaseUntil = this.#drop(seq, handler);
    if (leaseUntil === undefined) return false;
    this.#removed.push([seq, handler, leaseUntil]);
    return true;
  }

  /** The end of the pair's lease; undefined when it was not in flight. */
  #drop(seq: number, handler: string): number | undefined {
    const event = this.#open.get(seq);
    const place = event?.handlers.indexOf(handler) ?? -1;
    if (event === undefined || place === -1) return undefined;
    if (event.handlers.length === 1) this.#open.delete(seq);
    else event.handlers.splice(place, 1);
    return event.leaseUntil;
  }
}

/** Gives a pair a row under the same lease, if it is in flight and no other process has taken the file over. */
export function prepareAddRow(db: Database): (lease: Lease, leaseUntil: number) => void {
  const insert = lazy(() =>
    db.prepare<Lease & { leaseUntil: number }>(`
      ${INSERT_LEASED_ROW}
      SELECT seq, handler, :token, :leaseUntil, 1, 0, 'leased' ${FROM_OWN_PAIR}`),
  );
  return ({ seq, handler, token }, leaseUntil) => {
    insert().run({ seq, handler, token, leaseUntil });
  };
}

function prepareStatements(db: Database) {
  return {
    epoch: db.prepare<[], number>("SELECT value FROM counter WHERE name = 'epoch'").pluck(),
    selectInFlight: lazy(() =>
      db.prepare<[], { seq: number; handler: string }>("SELECT seq, handler FROM inbox_in_flight ORDER BY seq"),
    ),
    setEpoch: db.prepare<[number]>("UPDATE counter SET value = ? WHERE name = 'epoch'"),
    setSettledThrough: db.prepare("UPDATE counter SET value = :seq WHERE name = 'settled_through' AND value < :seq"),
    settleAll: db.prepare(`
      UPDATE counter SET value = max(value, coalesce((SELECT max(seq) FROM inbox_event), 0))
      WHERE name = 'settled_through'`),
    addMark: prepareLater(db)<[string, number, number, string | null, number]>(
      "INSERT INTO inbox_mark (handler, first, last, bits, settled_at) VALUES (?, ?, ?, ?, ?)",
    ),
    addRow: prepareAddRow(db),
    addAllRows: db.prepare(`
      ${INSERT_LEASED_ROW}
      SELECT seq, handler, ${ENDED}, ${ENDED}, 1, 0, 'leased' FROM inbox_in_flight`),
  };
}
