import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import type { InboxOperator } from "../inbox-operator.js";
import { findWaiting } from "../queries/waiting-work.js";
import { type FoundWaiting, type RunPage, type RunRequest, runAllWork } from "../waiting-work.js";
import { prepareRunPiece } from "./operations/run-work.js";
import { BETWEEN_PAGES_MS, PAGE, changeInTime } from "./pages-beside.js";
import { runBeside } from "./run-beside.js";
import { runInFile } from "./run-in-file.js";
import { FILE_WORDS } from "./words.js";

/** Pages without chosen work that are read one after the other; then a job notes how far it is. */
const EMPTY_PAGES = 10;

/** Makes chosen work due that waits for its next run, in a file beside its receiver. */
export function runWaitingWork(db: Database, now: () => number): InboxOperator["runWork"] {
  const pages = prepareWaitingPages(db);
  return (choice) =>
    runAllWork(
      async (from) => {
        const found = await pages.find({ choice, now: now(), from });
        if (found.pieces.length === 0) return { pieces: [], next: found.next };
        return runBeside(db, "immediate", () => pages.run(found, now()));
      },
      () => sleep(BETWEEN_PAGES_MS),
    );
}

/** Pages of work that waits for its next run. */
export function prepareWaitingPages(db: Database) {
  const run = prepareRunPiece(db);
  return {
    /** Reads without a lock, on to the next page that has chosen work, but not for long. */
    async find(request: RunRequest): Promise<FoundWaiting> {
      let { from } = request;
      for (let pages = 1; ; pages += 1) {
        const wanted = { ...request, from, wanted: PAGE };
        const found = await runBeside(db, "deferred", () => runInFile(db, findWaiting(FILE_WORDS, wanted)));
        if (found.pieces.length > 0 || found.next === undefined || pages === EMPTY_PAGES) return found;
        from = found.next;
        await setImmediate();
      }
    },
    /** Makes work due that was found; in an open transaction. */
    run({ pieces, next }: FoundWaiting, now: number): RunPage {
      const ran = changeInTime(pieces, (piece) => run({ ...piece, now }));
      const changed = pieces.filter((_, index) => ran[index] === true);
      const goesOn = ran.length < pieces.length ? pieces[ran.length - 1] : next;
      return { pieces: changed.map(({ seq, handler }) => ({ seq, handler })), next: goesOn };
    },
  };
}
