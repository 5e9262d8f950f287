import type { Database } from "better-sqlite3";
import type { InboxOperator } from "../inbox-operator.js";
import type { ContactEventChoice } from "../outbox.js";
import { prepareCountDeadContactEvents, prepareSelectDeadContactEvents } from "./operations/chosen-contact-events.js";
import { prepareDiscardDeadContactEvent, prepareReviveContactEvent } from "./operations/outbox-inspect.js";
import { PAGE, changesBeside } from "./pages-beside.js";
import { runBeside } from "./run-beside.js";

type DeadContactEventChanges = Pick<
  InboxOperator,
  "countDeadContactEvents" | "retryDeadContactEvents" | "discardDeadContactEvents"
>;

/** Retries and discards dead contact events in a file beside its receiver, a page at a time. */
export function changeDeadContactEvents({ db, now }: { db: Database; now: () => number }): DeadContactEventChanges {
  const select = prepareSelectDeadContactEvents(db);
  const count = prepareCountDeadContactEvents(db);
  const revive = prepareReviveContactEvent(db);
  const discard = prepareDiscardDeadContactEvent(db);

  /** Returns the sum of what `change` returns for each event. */
  async function changeEach(
    choice: ContactEventChoice,
    change: (event: { seq: number; now: number }) => number,
  ): Promise<number> {
    let total = 0;
    const changes = changesBeside(db, {
      readPage: (after: number | undefined) => select({ choice, after: after ?? 0, limit: PAGE }),
      change: (seq) => change({ seq, now: now() }),
    });
    for await (const page of changes) for (const events of page) total += events;
    return total;
  }

  return {
    countDeadContactEvents: (choice) => runBeside(db, "deferred", () => count(choice)),
    retryDeadContactEvents: (choice) => changeEach(choice, revive),
    discardDeadContactEvents: (choice) => changeEach(choice, discard),
  };
}
