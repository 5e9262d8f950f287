import type { Database } from "better-sqlite3";

/** Calls that wait for their next try, which are few. The index has those that are not dead. */
const WAITS = "state <> 'dead' AND state = 'pending'";

/**
 * Makes the call of an event, by key, due that waits for its next try, and those before it: calls go out in their
 * order. Attempts, members and keys stay. Returns the number of events that go out now, with those of the calls that
 * were discarded; 0 when nothing waits, or the call is under way.
 */
export function prepareMakeCallDue(db: Database) {
  const select = db
    .prepare<{ key: string }, number | null>(`
    SELECT max(send) FROM outbox_send AS s WHERE ${WAITS}
      AND EXISTS (SELECT 1 FROM outbox_event AS e WHERE e.send = s.send AND e.key = :key AND e.state = 'leased')`)
    .pluck();
  const makeDue = db
    .prepare<{ send: number; now: number }, number>(`
    UPDATE outbox_send SET due_at = :now, waits_since = NULL WHERE ${WAITS} AND send <= :send AND due_at > :now
    RETURNING send`)
    .pluck();
  const countMembers = prepareCountMembers(db);

  return ({ key, now }: { key: string; now: number }): number => {
    const last = select.get({ key }) ?? undefined;
    if (last === undefined) return 0;
    const due = makeDue.all({ send: last, now });
    return due.reduce((events, send) => events + countMembers(send), 0);
  };
}

/** Counts the events of a call, with those that were discarded. */
export function prepareCountMembers(db: Database): (send: number) => number {
  const count = db.prepare<[number], number>("SELECT count(*) FROM outbox_event WHERE send = ?").pluck();
  return (send) => count.get(send) ?? 0;
}
