import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import type { InboxOperator } from "../inbox-operator.js";
import { runAllWork } from "../waiting-work.js";
import { prepareCountWaiting, prepareRunEvent, prepareRunWork } from "./operations/run-now.js";
import { BETWEEN_PAGES_MS } from "./pages-beside.js";
import { runBeside } from "./run-beside.js";

export interface WaitingWorkOfFile {
  db: Database;
  now: () => number;
  /** Throws `not_found`. */
  mustGet: (id: string) => unknown;
}

/** Makes work due that waits for its next run, in a file beside its receiver. */
export function runWaitingWork({
  db,
  now,
  mustGet,
}: WaitingWorkOfFile): Pick<InboxOperator, "runEvent" | "runWork" | "countWaiting"> {
  const runEvent = prepareRunEvent(db);
  const runWork = prepareRunWork(db);
  const count = prepareCountWaiting(db);
  return {
    runEvent: (id) =>
      runBeside(db, "immediate", () => {
        mustGet(id);
        return runEvent({ id, now: now() });
      }),
    runWork: (choice) =>
      runAllWork(
        (from) => runBeside(db, "immediate", () => runWork({ choice, now: now(), from })),
        () => sleep(BETWEEN_PAGES_MS),
      ),
    countWaiting: (choice) => runBeside(db, "deferred", () => count({ choice, now: now() })),
  };
}
