import type { InboxOperator } from "../inbox-operator.js";
import type { ContactEventChoice } from "../outbox.js";
import { type BesideReceivers, PAGE_ROWS, pagesOf } from "./beside-receivers.js";
import { countDeadContactEvents, selectDeadContactEvents } from "./operations/chosen-contact-events.js";
import { discardContactEvent } from "./operations/discard-contact-event.js";
import { reviveContactEvent } from "./operations/outbox-inspect.js";
import type { Sql } from "./sql.js";

type DeadContactEventChanges = Pick<
  InboxOperator,
  "countDeadContactEvents" | "retryDeadContactEvents" | "discardDeadContactEvents"
>;

interface DeadContactEvent {
  seq: number;
  send: number | null;
}

/** Retries and discards dead contact events in a database beside its receivers, a page at a time. */
export function changeDeadContactEventsOfDatabase({ read, write }: BesideReceivers): DeadContactEventChanges {
  /** Returns the sum of what `change` returns for each event. */
  async function changeEach(
    choice: ContactEventChoice,
    change: (sql: Sql, event: DeadContactEvent & { now: number }) => Promise<number>,
  ): Promise<number> {
    let total = 0;
    const pages = pagesOf((after: DeadContactEvent | undefined) =>
      read("listing contact events", (sql) =>
        selectDeadContactEvents(sql, { choice, after: after?.seq ?? 0, limit: PAGE_ROWS }),
      ),
    );
    for await (const page of pages) {
      total += await write("changing contact events", async (sql, now) => {
        let changed = 0;
        for (const event of page) changed += await change(sql, { ...event, now });
        return changed;
      });
    }
    return total;
  }

  return {
    countDeadContactEvents: (choice) => read("counting contact events", (sql) => countDeadContactEvents(sql, choice)),
    retryDeadContactEvents: (choice) => changeEach(choice, reviveContactEvent),
    discardDeadContactEvents: (choice) => changeEach(choice, discardDeadContactEvent),
  };
}

/** Ends an event that is still dead; returns how many, 0 or 1. */
async function discardDeadContactEvent(
  sql: Sql,
  { seq, send, now }: DeadContactEvent & { now: number },
): Promise<number> {
  const found = await sql.row(
    "SELECT 1 AS found FROM pigeonhole.outbox_event WHERE seq = :seq AND state = 'dead' FOR UPDATE",
    { seq },
  );
  if (found === undefined) return 0;
  await discardContactEvent(sql, { seq, send, now });
  return 1;
}
