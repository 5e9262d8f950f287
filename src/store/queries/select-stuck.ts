import type { StuckPiece, StuckWork } from "../inbox-operator.js";
import { type StoreQuery, readRows } from "./store-query.js";
import { choiceParameters, fromOpenWork, workConditions } from "./work-choice.js";

/**
 * A page of the chosen work that is dead or parked, after a piece, oldest first. On SQLite the index has those of one
 * state in this order: a page of them never sorts, and all pages together read each piece once.
 */
export function selectStuck({
  choice,
  after,
  limit,
}: {
  choice: StuckWork;
  after: StuckPiece;
  limit: number;
}): StoreQuery<StuckPiece[]> {
  return readRows(
    `SELECT w.seq, w.handler ${fromOpenWork(choice)}
     WHERE ${["w.state IN ('dead', 'parked')", ...workConditions(choice)].join(" AND ")}
       AND (w.seq, w.handler) > (:afterSeq::bigint, :afterHandler)
     ORDER BY w.seq, w.handler LIMIT :limit`,
    { ...choiceParameters(choice), afterSeq: after.seq, afterHandler: after.handler, limit },
  );
}
