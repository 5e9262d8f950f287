import type { Database } from "better-sqlite3";
import type { WorkChoice } from "../../inbox-view.js";
import {
  firstWaiting,
  type FoundWaiting,
  type RunCounts,
  type RunPage,
  type RunRequest,
  WAITING_PAGE,
  type WaitingPlace,
  withMoreCrashes,
} from "../../waiting-work.js";
import { bindChoice, chosenWork, fromChosenWork } from "./work-choice.js";

interface Waiting {
  seq: number;
  dueAt: number;
  isChosen: 0 | 1;
}

/** Few, so that a page that needs no more ends soon. */
const LOOKED_TOGETHER = 25;

const WAITS = "state = 'pending' AND due_at > :now";
const RUN = `UPDATE inbox_work SET due_at = :now, waits_since = NULL WHERE ${WAITS}`;

/** Makes the work of one event due that waits for its next run; its attempts stay. Returns how many pieces. */
export function prepareRunEvent(db: Database) {
  const run = db.prepare(`${RUN} AND seq = (SELECT seq FROM inbox_event WHERE id = :id)`);
  return (event: { id: string; now: number }): number => run.run(event).changes;
}

/** Finds a page of chosen work that waits for its next run: `wanted` pieces or some more. Does not read what is due. */
export function prepareFindWaiting(db: Database) {
  const handlerAfter = db
    .prepare<[string], string>(`
    SELECT handler FROM inbox_work INDEXED BY inbox_work_pending WHERE state = 'pending' AND handler > ?
    ORDER BY handler LIMIT 1`)
    .pluck();

  function select(place: WaitingPlace, choice: WorkChoice, limit: number): Waiting[] {
    const isChosen = chosenWork(choice).join(" AND ") || "TRUE";
    return db
      .prepare<object, Waiting>(`
      SELECT w.seq, w.due_at AS dueAt, (${isChosen}) IS TRUE AS isChosen
      FROM (
        SELECT seq AS at_seq, handler AS of_handler FROM inbox_work INDEXED BY inbox_work_pending
        WHERE state = 'pending' AND handler = :atHandler AND min(started - finished, 2) = :crashes
          AND (due_at, seq) > (:dueAt, :seq)
        ORDER BY due_at, seq LIMIT :limit) AS page
      CROSS JOIN inbox_work AS w ON w.seq = page.at_seq AND w.handler = page.of_handler
      CROSS JOIN inbox_event AS e ON e.seq = w.seq
      ORDER BY w.due_at, w.seq`)
      .all({ ...bindChoice(choice), ...place, atHandler: place.handler, handler: choice.handler, limit });
  }

  return ({ choice, now, from, wanted = Infinity }: RunRequest & { wanted?: number }): FoundWaiting => {
    const pieces: WaitingPlace[] = [];
    let looked = 0;
    let next = from ?? firstWaiting(choice.handler ?? handlerAfter.get(""), now);
    while (next !== undefined && looked < WAITING_PAGE && pieces.length < wanted) {
      const place: WaitingPlace = next;
      const limit = Math.min(LOOKED_TOGETHER, WAITING_PAGE - looked);
      const waiting = select(place, choice, limit);
      for (const { seq, dueAt, isChosen } of waiting) if (isChosen === 1) pieces.push({ ...place, seq, dueAt });
      looked += waiting.length;
      const last = waiting.at(-1);
      if (last !== undefined && waiting.length === limit) next = { ...place, dueAt: last.dueAt, seq: last.seq };
      else {
        const follows = choice.handler === undefined ? handlerAfter.get(place.handler) : undefined;
        next = withMoreCrashes(place, now) ?? firstWaiting(follows, now);
      }
    }
    return { pieces, next };
  };
}

/** Makes a piece due that was found to wait; its attempts stay. False when it does not wait any more as it did. */
export function prepareRunPiece(db: Database) {
  const run = db.prepare(`${RUN} AND seq = :seq AND handler = :handler AND due_at = :dueAt`);
  return (piece: WaitingPlace & { now: number }): boolean => run.run(piece).changes === 1;
}

/** Makes a page of chosen work due that waits for its next run. In one transaction. */
export function prepareRunWork(db: Database) {
  const find = prepareFindWaiting(db);
  const run = prepareRunPiece(db);
  return (request: RunRequest): RunPage => {
    const { pieces, next } = find(request);
    for (const piece of pieces) run({ ...piece, now: request.now });
    return { pieces: pieces.map(({ seq, handler }) => ({ seq, handler })), next };
  };
}

/** Counts the chosen work that waits for its next run. */
export function prepareCountWaiting(db: Database) {
  return ({ choice, now }: { choice: WorkChoice; now: number }): RunCounts => {
    const conditions = [WAITS, ...chosenWork(choice)].join(" AND ");
    const count = db.prepare<object, RunCounts>(`
      SELECT count(DISTINCT w.seq) AS events, count(*) AS work
      ${fromChosenWork(choice)} WHERE ${conditions}`);
    return count.get({ ...bindChoice(choice), now }) ?? { events: 0, work: 0 };
  };
}
