import type { Database } from "better-sqlite3";
import type { OutboxCounts, OutboxState } from "../../outbox.js";
import { type DeadContactEvent, discardContactEvent, reviveContactEvent } from "../../queries/contact-events.js";
import { runInFile } from "../run-in-file.js";
import { prepareMakeCallDue } from "./make-call-due.js";
import { IS_LEASED, IS_NEW, FILE_WORDS } from "../words.js";

/** Revives a dead event, by key; when none has it, makes the call due that waits for its next try. */
export function prepareRetryOutbox(db: Database) {
  const select = db
    .prepare<{ key: string }, number>("SELECT seq FROM outbox_event WHERE key = :key AND state = 'dead'")
    .pluck();
  const makeCallDue = prepareMakeCallDue(db);
  return ({ key, now }: { key: string; now: number }): number => {
    const seq = select.get({ key });
    return seq === undefined ? makeCallDue({ key, now }) : runInFile(db, reviveContactEvent(FILE_WORDS, { seq, now }));
  };
}

/** Ends an event that is not being sent, by key. */
export function prepareDiscardOutbox(db: Database) {
  const select = db.prepare<{ key: string }, DeadContactEvent>(`
    SELECT seq, send FROM outbox_event WHERE key = :key AND state = 'dead'
    UNION ALL SELECT seq, send FROM outbox_event WHERE key = :key AND state = 'again'
    UNION ALL SELECT seq, send FROM outbox_event WHERE key = :key AND ${IS_NEW}
    LIMIT 1`);
  return ({ key, now }: { key: string; now: number }): boolean => {
    const event = select.get({ key });
    if (event === undefined) return false;
    runInFile(db, discardContactEvent({ ...event, now }));
    return true;
  };
}

export function prepareCountOutbox(db: Database) {
  const count = db.prepare<[], { state: OutboxState; events: number; oldest: number | null }>(`
    SELECT 'pending' AS state, count(*) AS events, min(recorded_at) AS oldest FROM outbox_event WHERE ${IS_NEW}
    UNION ALL SELECT 'pending', count(*), min(recorded_at) FROM outbox_event WHERE state = 'again'
    UNION ALL SELECT 'leased', count(*), min(recorded_at) FROM outbox_event WHERE ${IS_LEASED}
    UNION ALL SELECT 'dead', count(*), NULL FROM outbox_event WHERE state = 'dead'`);
  return (): OutboxCounts => {
    const counts: OutboxCounts = { pending: 0, leased: 0, dead: 0, oldestRecordedAt: undefined };
    for (const { state, events, oldest } of count.all()) {
      if (state !== "done") counts[state] += events;
      if (oldest !== null) counts.oldestRecordedAt = Math.min(oldest, counts.oldestRecordedAt ?? oldest);
    }
    return counts;
  };
}
