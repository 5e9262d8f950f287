import type { InboxOperator } from "../inbox-operator.js";
import type { ContactEventChoice } from "../outbox.js";
import { type BesideReceivers, PAGE_ROWS, pagesOf } from "./beside-receivers.js";
import {
  type DeadContactEvent,
  discardDeadContactEvent,
  reviveContactEvent,
  selectDeadContactEvents,
} from "../queries/contact-events.js";
import type { StoreQuery } from "../queries/store-query.js";
import { runOnServer } from "./run-on-server.js";
import { SERVER_WORDS } from "./words.js";

type DeadContactEventChanges = Pick<InboxOperator, "retryDeadContactEvents" | "discardDeadContactEvents">;

/** Retries and discards dead contact events in a database beside its receivers, a page at a time. */
export function changeDeadContactEventsOfDatabase({ read, write }: BesideReceivers): DeadContactEventChanges {
  /** Returns the sum of what `change` returns for each event. */
  async function changeEach(
    choice: ContactEventChoice,
    change: (event: { seq: number; now: number }) => StoreQuery<number>,
  ): Promise<number> {
    let total = 0;
    const pages = pagesOf((after: DeadContactEvent | undefined) =>
      read("listing contact events", (sql) =>
        runOnServer(sql, selectDeadContactEvents(SERVER_WORDS, { choice, after: after?.seq ?? 0, limit: PAGE_ROWS })),
      ),
    );
    for await (const page of pages) {
      total += await write("changing contact events", async (sql, now) => {
        let changed = 0;
        for (const event of page) changed += await runOnServer(sql, change({ seq: event.seq, now }));
        return changed;
      });
    }
    return total;
  }

  return {
    retryDeadContactEvents: (choice) => changeEach(choice, (event) => reviveContactEvent(SERVER_WORDS, event)),
    discardDeadContactEvents: (choice) => changeEach(choice, discardDeadContactEvent),
  };
}
