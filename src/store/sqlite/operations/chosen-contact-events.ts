import type { Database } from "better-sqlite3";
import type { ContactEventChoice } from "../../outbox.js";

const CONDITIONS: Record<keyof ContactEventChoice, string> = {
  name: "body ->> '$.name' = :name",
  error: `(instr(lower(concat_ws(' ', reason, code, param, message)), lower(:error)) > 0
    OR send IN (SELECT send FROM outbox_send WHERE instr(lower(error), lower(:error)) > 0))`,
  since: "recorded_at >= :since",
  until: "recorded_at < :until",
  inboxEventId: "inbox_seq = (SELECT seq FROM inbox_event WHERE id = :inboxEventId)",
};

/** Conditions on the rows of `outbox_event`, whose parameters have the names of the fields. */
export function chosenContactEvents(choice: ContactEventChoice): string[] {
  return Object.entries(CONDITIONS)
    .filter(([name]) => choice[name as keyof ContactEventChoice] !== undefined)
    .map(([, condition]) => condition);
}

const whereDead = (choice: ContactEventChoice): string =>
  ["state = 'dead'", ...chosenContactEvents(choice)].join(" AND ");

/** Reads the numbers of a page of the chosen events that are dead, oldest first. */
export function prepareSelectDeadContactEvents(db: Database) {
  return ({ choice, after, limit }: { choice: ContactEventChoice; after: number; limit: number }): number[] =>
    db
      .prepare<object, number>(
        `SELECT seq FROM outbox_event WHERE ${whereDead(choice)} AND seq > :after ORDER BY seq LIMIT :limit`,
      )
      .pluck()
      .all({ ...choice, after, limit });
}

/** Counts the chosen events that are dead. */
export function prepareCountDeadContactEvents(db: Database) {
  return (choice: ContactEventChoice): number =>
    db
      .prepare<object, number>(`SELECT count(*) FROM outbox_event WHERE ${whereDead(choice)}`)
      .pluck()
      .get(choice) ?? 0;
}
