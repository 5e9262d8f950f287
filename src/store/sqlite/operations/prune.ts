import type { Database } from "better-sqlite3";
import { noteRemoval } from "../../queries/known-ids.js";
import { EVENTS, type PrunedKind, SENT, bodiesOf, sweep } from "../../queries/prune.js";
import type { PruneLimits } from "../../store.js";
import { runInFile } from "../run-in-file.js";

const BODIES = bodiesOf("pigeonhole.inbox_body");

/** Removes one small batch, oldest first. */
export function preparePrune(db: Database) {
  const after = new Map<PrunedKind, number>();
  return (limits: PruneLimits): number => {
    const { idsBefore, bodiesBefore, sentBefore } = limits;
    // Each time: a round that failed goes on with later limits.
    runInFile(db, noteRemoval(idsBefore));
    const kinds = [
      [EVENTS, idsBefore],
      [BODIES, bodiesBefore],
      [SENT, sentBefore],
    ] as const;
    const seen = runInFile(db, sweep(kinds, { ...limits, end: Number.MAX_SAFE_INTEGER }, after));
    // All at once: otherwise every batch of one kind would begin by reading the same rows of another kind again.
    if (seen === 0) after.clear();
    return seen;
  };
}
