import { randomInt } from "node:crypto";
import type { Database } from "better-sqlite3";
import { planHistory } from "../../queries/history.js";
import { type StoreQuery, run } from "../../queries/store-query.js";
import type { LeasePage, LeaseRequest } from "../../store.js";
import { type Lease, type LeasedRow, toLeasedWork } from "../../work.js";
import { prepareLater } from "../on-first-use.js";
import { runInFile } from "../run-in-file.js";

/** How many processes died in the work: none, one, or two and more. The value of the index expression. */
type Crashes = 0 | 1 | 2;

/** Reads pending work of a handler by the number of processes that died in it. */
function prepareReadDue(db: Database) {
  const selectDue = prepareLater(db)<{ handler: string; crashes: Crashes; now: number }, LeasedRow>(`
    SELECT w.seq, w.started + 1 AS started, w.finished, w.waits, w.wait_began AS waitBegan, e.id AS eventId,
      e.received_at AS receivedAt, e.signed_at AS signedAt, w.due_at AS dueAt, b.body, b.trace
    FROM inbox_work AS w JOIN inbox_event AS e ON e.seq = w.seq JOIN inbox_body AS b ON b.seq = w.seq
    WHERE w.state = 'pending' AND w.handler = :handler AND min(w.started - w.finished, 2) = :crashes
      AND w.due_at <= :now
    ORDER BY w.due_at, w.seq`);
  const selectNextDue = db
    .prepare<{ handler: string; crashes: Crashes }, number>(`
    SELECT due_at FROM inbox_work
    WHERE state = 'pending' AND handler = ${planFree(":handler", "text")}
      AND min(started - finished, 2) = ${planFree(":crashes", "number")}
    ORDER BY due_at LIMIT 1`)
    .pluck();
  /** When the first work with each number of crashes is due. */
  function readDues(handler: string): (number | undefined)[] {
    return ([0, 1, 2] as const).map((crashes) => selectNextDue.get({ handler, crashes }));
  }

  function readPage(request: LeaseRequest, crashes: Crashes, limit: number): LeasedRow[] {
    const rows: LeasedRow[] = [];
    if (limit <= 0) return rows;
    let bytes = 0;
    for (const row of selectDue().iterate({ handler: request.handler, crashes, now: request.now })) {
      rows.push(row);
      bytes += row.body.byteLength;
      if (rows.length >= limit || bytes >= request.maxBytes) break;
    }
    return rows;
  }

  const selectHeldUntil = db
    .prepare<{ handler: string; now: number }, number | null>(`
    SELECT max(due_at) FROM inbox_work
    WHERE state = 'pending' AND wait_holds = 'handler' AND waits_since IS NOT NULL
      AND handler = ${planFree(":handler", "text")} AND due_at > ${planFree(":now", "number")}`)
    .pluck();
  /** Until when a wait holds the handler. */
  function readHeldUntil({ handler, now }: LeaseRequest): number | undefined {
    return selectHeldUntil.get({ handler, now }) ?? undefined;
  }

  return { readDues, readPage, readHeldUntil };
}

/**
 * Leases a page of due work for one handler. Work that one process died in is returned first, without other work and in
 * small pages, so that the next crash shows which event causes it; crash-looping work, which two processes died in, is
 * returned one piece at a time.
 */
export function prepareLease(db: Database, takeTokens: TakeTokens) {
  const { readDues, readPage, readHeldUntil } = prepareReadDue(db);
  const setLeased = prepareLater(db)(`
    UPDATE inbox_work
    SET state = 'leased', lease = :token, lease_until = :leaseUntil, due_at = NULL, waits_since = NULL, started = started + 1
    WHERE seq = :seq AND handler = :handler AND state = 'pending'`);

  /**
   * Reads no page where nothing is due: an idle handler polls every second, and three tables cost several times as much
   * as one index.
   */
  function findPage(request: LeaseRequest, dues: readonly (number | undefined)[]): LeasedRow[] {
    const limitOf = (crashes: Crashes, limit: number): number =>
      (dues[crashes] ?? Infinity) <= request.now ? limit : 0;
    const crashLooping = readPage(request, 2, limitOf(2, request.allowCrashLooping ? 1 : 0));
    if (crashLooping.length > 0) return crashLooping;
    const crashed = readPage(request, 1, limitOf(1, request.crashedLimit));
    if (crashed.length > 0) return crashed;
    return readPage(request, 0, limitOf(0, request.limit));
  }

  /** Makes work from the history of the handler, unless other work of it is due. */
  function makeHistory(request: LeaseRequest, dues: readonly (number | undefined)[]): boolean {
    const { now, history: limit = 0 } = request;
    if (limit > 0 && dues.some((due = Infinity) => due <= now)) return false;
    return runInFile(db, planHistory({ ...request, limit }));
  }

  return (request: LeaseRequest): LeasePage => {
    const { handler, leaseUntil } = request;
    const heldUntil = readHeldUntil(request);
    if (heldUntil !== undefined) return { work: [], nextDueAt: heldUntil, heldUntil };
    let before = readDues(handler);
    const hasHistory = makeHistory(request, before);
    if (hasHistory) before = readDues(handler);
    const work = findPage(request, before).map((row) => {
      const lease = { handler, token: takeTokens(1) };
      setLeased().run({ seq: row.seq, ...lease, leaseUntil });
      return toLeasedWork(row, lease);
    });
    const dues = work.length === 0 ? before : readDues(handler);
    const nextDueAt = dues.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
    return { work, nextDueAt, ...(hasHistory && { hasHistory }) };
  };
}

const RENEW = `
  UPDATE inbox_work SET lease_until = :leaseUntil
  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token`;

/** Extends leases; returns those that have a new holder. */
export function* renewInFile(of: { leases: readonly Lease[]; leaseUntil: number }): StoreQuery<Lease[]> {
  const lost: Lease[] = [];
  for (const lease of of.leases) {
    if ((yield* run(RENEW, { ...lease, leaseUntil: of.leaseUntil })) === 0) lost.push(lease);
  }
  return lost;
}

const RELEASE = `
  UPDATE inbox_work
  SET state = 'pending', due_at = (SELECT min(received_at, :now) FROM inbox_event AS e WHERE e.seq = inbox_work.seq),
      lease = NULL, lease_until = NULL, started = started - 1
  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token`;

/** Makes leased work pending again as if it had not been leased; it waits since it was received. */
export function* releaseInFile({ leases, now }: { leases: readonly Lease[]; now: number }): StoreQuery<void> {
  for (const lease of leases) yield* run(RELEASE, { ...lease, now });
}

/**
 * A bound value as an expression of the same value. The SQLite of better-sqlite3 (STAT4) compiles a statement again at
 * each run when its plan could depend on a bound value, such as that of a LIMIT, which takes several times as long as
 * running it. It does not look into an expression.
 */
function planFree(parameter: string, type: "number" | "text"): string {
  return type === "number" ? `(${parameter} + 0)` : `(${parameter} || '')`;
}

/** Takes `count` tokens that no lease had before; they count up from the one that it returns. */
export type TakeTokens = (count: number) => number;

/** Begins at a random number, so that the tokens of two processes, and of two threads, differ. */
export function createTokenSource(): TakeTokens {
  let next = randomInt(2 ** 47);
  return (count) => (next += count) - count;
}
