import type { Database } from "better-sqlite3";
import { BLOCKING_TRIES, callKeyOf } from "../../freeze-call.js";
import type { FrozenSend, SendPage, SendRequest } from "../../outbox.js";
import type { TraceContext } from "../../trace-context.js";
import type { TakeTokens } from "../lease-token.js";
import { prepareLater } from "../on-first-use.js";
import { planFree } from "../plan-free.js";
import { prepareReadEpoch } from "./epoch.js";

const LIMIT = planFree(":limit", "number");

interface SendRow {
  send: number;
  key: string;
  kind: FrozenSend["kind"];
  state: "pending" | "leased";
  started: number;
  dueAt: number | null;
  leaseUntil: number | null;
}

interface EventRow {
  seq: number;
  key: string;
  body: string;
  occurredAt: number;
  trace: TraceContext | null;
}

/**
 * Leases the one call that may be in progress. Waiting events are frozen into a new one only when there is none, or
 * none that has failed less than `BLOCKING_TRIES` times: an event that overtook a call that fails because of the
 * service would fail as well.
 */
function prepareLeaseSend(db: Database, takeTokens: TakeTokens) {
  const later = prepareLater(db);
  // The leased one first: a call that an operator retried is not sent beside the one in progress.
  const selectOpen = db.prepare<{ now: number }, SendRow>(`
    SELECT send, key, kind, state, started, due_at AS dueAt, lease_until AS leaseUntil
    FROM outbox_send WHERE state <> 'dead' AND (state = 'leased' OR started < ${BLOCKING_TRIES} OR due_at <= :now)
    ORDER BY state = 'pending', send LIMIT 1`);
  // In any state: an event that was discarded meanwhile is still part of the call that may have arrived.
  const selectMembers = later<{ send: number }, EventRow>(`
    SELECT seq, key, body, occurred_at AS occurredAt, trace FROM outbox_event WHERE send = :send ORDER BY position`);
  const selectAgain = db.prepare<{ limit: number; now: number }, EventRow>(`
    SELECT seq, key, body, occurred_at AS occurredAt, trace FROM outbox_event
    WHERE state = 'again' AND occurred_at <= :now ORDER BY seq LIMIT ${LIMIT}`);
  const selectNew = db.prepare<{ limit: number }, EventRow>(`
    SELECT seq, key, body, occurred_at AS occurredAt, trace FROM outbox_event
    WHERE seq > (SELECT value FROM counter WHERE name = 'outbox_taken') AND state = 'pending' ORDER BY seq LIMIT ${LIMIT}`);
  const setAside = later("UPDATE outbox_event SET state = 'again' WHERE seq = :seq AND state = 'pending'");
  const setTaken = later("UPDATE counter SET value = max(value, :seq) WHERE name = 'outbox_taken'");
  const insertSend = later(`
    INSERT INTO outbox_send (key, kind, state, lease, lease_until, started)
    VALUES (:key, :kind, 'leased', :lease, :leaseUntil, 1)`);
  const setMember = later(`
    UPDATE outbox_event SET state = 'leased', send = :send, position = :position
    WHERE seq = :seq AND state IN ('pending', 'again')`);
  const setLeased = later(`
    UPDATE outbox_send
    SET state = 'leased', lease = :lease, lease_until = :leaseUntil, due_at = NULL, waits_since = NULL, started = started + 1
    WHERE send = :send`);

  function leaseAgain(open: SendRow, { now, leaseUntil }: SendRequest): SendPage {
    const freeAt = open.dueAt ?? open.leaseUntil ?? now;
    if (freeAt > now) return { send: undefined, nextDueAt: freeAt };
    const { send, key, kind, started } = open;
    const token = takeTokens(1);
    setLeased().run({ send, lease: token, leaseUntil });
    const events = withoutKeys(selectMembers().all({ send }));
    return { send: { send, token, key, kind, attempt: started + 1, events }, nextDueAt: undefined };
  }

  function freeze(events: readonly EventRow[], leaseUntil: number): SendPage {
    const { kind, key } = callKeyOf(events);
    const token = takeTokens(1);
    const send = Number(insertSend().run({ key, kind, lease: token, leaseUntil }).lastInsertRowid);
    for (const [position, { seq }] of events.entries()) setMember().run({ seq, send, position });
    setTaken().run({ seq: events.at(-1)?.seq ?? 0 });
    return { send: { send, token, key, kind, attempt: 1, events: withoutKeys(events) }, nextDueAt: undefined };
  }

  /** In the order of recording: events that came back from a call were taken before all new ones. */
  function readWaiting({ limit, now }: SendRequest): readonly EventRow[] {
    const again = selectAgain.all({ limit, now });
    return again.length === limit ? again : [...again, ...readNew(limit - again.length, now)];
  }

  /** An event that occurs later than now, by a clock that was ahead, would be refused: it waits until that time. */
  function readNew(limit: number, now: number): readonly EventRow[] {
    for (;;) {
      const rows = selectNew.all({ limit });
      const ready = rows.filter(({ occurredAt }) => occurredAt <= now);
      for (const { seq, occurredAt } of rows) if (occurredAt > now) setAside().run({ seq });
      if (ready.length > 0 || rows.length === 0) return ready;
      setTaken().run({ seq: rows.at(-1)?.seq ?? 0 });
    }
  }

  return (request: SendRequest): SendPage => {
    const open = selectOpen.get({ now: request.now });
    if (open !== undefined) return leaseAgain(open, request);
    const waiting = readWaiting(request);
    if (waiting.length === 0) return { send: undefined, nextDueAt: undefined };
    return freeze(waiting, request.leaseUntil);
  };
}

/**
 * Leases nothing to a former owner: leases of calls are long, and the new owner could not know that the other process
 * died in its call.
 */
export function prepareLeaseSendOfOwner(db: Database, takeTokens: TakeTokens) {
  const leaseSend = prepareLeaseSend(db, takeTokens);
  const readEpoch = prepareReadEpoch(db);
  /** `epoch` is that of the process that asks; undefined if it has never taken the file over. */
  return ({ epoch, ...request }: SendRequest & { epoch: number | undefined }): SendPage =>
    epoch === undefined || epoch === readEpoch() ? leaseSend(request) : { send: undefined, nextDueAt: undefined };
}

function withoutKeys(events: readonly EventRow[]): FrozenSend["events"] {
  return events.map(({ seq, body, occurredAt, trace }) => ({
    seq,
    body,
    occurredAt,
    ...(trace !== null && { trace }),
  }));
}
