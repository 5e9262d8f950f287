import type { Database } from "better-sqlite3";
import type { StuckPiece, StuckWork } from "../../inbox-operator.js";
import { OPEN } from "./open-work.js";
import { bindChoice, chosenWork, fromChosenWork } from "./work-choice.js";

export interface StuckQuery {
  choice: StuckWork;
  state: "dead" | "parked";
  /** The last piece of the page before. */
  after: StuckPiece;
  limit: number;
}

/** The chosen work as rows of FROM. */
function fromChosen(choice: StuckWork, states: string): string {
  const conditions = [OPEN, `state IN (${states})`, ...chosenWork(choice)].join(" AND ");
  return `${fromChosenWork(choice)} WHERE ${conditions}`;
}

/**
 * Reads a page of the chosen work in one state, oldest first. The index has them in this order: a page never sorts, and
 * all pages together read each piece once, however many there are of an error.
 */
export function prepareSelectStuck(db: Database) {
  return ({ choice, state, after, limit }: StuckQuery): StuckPiece[] =>
    db
      .prepare<object, StuckPiece>(
        `SELECT w.seq, w.handler FROM inbox_work AS w INDEXED BY inbox_work_open
         CROSS JOIN inbox_event AS e ON e.seq = w.seq
         WHERE ${[`w.${OPEN}`, `w.state = '${state}'`, ...chosenWork(choice)].join(" AND ")}
           AND (w.seq, w.handler) > (:afterSeq, :afterHandler)
         ORDER BY w.seq, w.handler LIMIT :limit`,
      )
      .all({ ...bindChoice(choice), afterSeq: after.seq, afterHandler: after.handler, limit });
}

/** Counts the chosen work. */
export function prepareCountStuck(db: Database) {
  return (choice: StuckWork): { events: number; work: number } => {
    const from = fromChosen(choice, choice.state === undefined ? "'dead', 'parked'" : ":state");
    const count = db.prepare<object, { events: number; work: number }>(
      `SELECT count(DISTINCT w.seq) AS events, count(*) AS work ${from}`,
    );
    return count.get(bindChoice(choice)) ?? { events: 0, work: 0 };
  };
}
