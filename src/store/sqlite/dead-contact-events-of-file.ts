import type { Database } from "better-sqlite3";
import type { InboxOperator } from "../inbox-operator.js";
import type { ContactEventChoice } from "../outbox.js";
import { discardDeadContactEvent, reviveContactEvent, selectDeadContactEvents } from "../queries/contact-events.js";
import type { StoreQuery } from "../queries/store-query.js";
import { PAGE, changesBeside } from "./pages-beside.js";
import { runInFile } from "./run-in-file.js";
import { FILE_WORDS } from "./words.js";

type DeadContactEventChanges = Pick<InboxOperator, "retryDeadContactEvents" | "discardDeadContactEvents">;

/** Retries and discards dead contact events in a file beside its receiver, a page at a time. */
export function changeDeadContactEvents({ db, now }: { db: Database; now: () => number }): DeadContactEventChanges {
  /** Returns the sum of what `change` returns for each event. */
  async function changeEach(
    choice: ContactEventChoice,
    change: (event: { seq: number; now: number }) => StoreQuery<number>,
  ): Promise<number> {
    let total = 0;
    const changes = changesBeside(db, {
      readPage: (after: { seq: number } | undefined) =>
        runInFile(db, selectDeadContactEvents(FILE_WORDS, { choice, after: after?.seq ?? 0, limit: PAGE })),
      change: ({ seq }) => runInFile(db, change({ seq, now: now() })),
    });
    for await (const page of changes) for (const events of page) total += events;
    return total;
  }

  return {
    retryDeadContactEvents: (choice) => changeEach(choice, (event) => reviveContactEvent(FILE_WORDS, event)),
    discardDeadContactEvents: (choice) => changeEach(choice, discardDeadContactEvent),
  };
}
