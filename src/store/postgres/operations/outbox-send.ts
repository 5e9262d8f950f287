import { MINUTE } from "../../../base/duration.js";
import { BLOCKING_TRIES, callKeyOf } from "../../freeze-call.js";
import type { FrozenSend, SendPage, SendRequest } from "../../outbox.js";
import type { TraceContext } from "../../trace-context.js";
import { LOCKED } from "../advisory-lock.js";
import type { LeaseHolder } from "../lease-token.js";
import type { Sql } from "../sql.js";
import type { NodeLock } from "./recover.js";
import { SERVER_TIME } from "./server-time.js";

interface OpenSend {
  send: number;
  key: string;
  kind: FrozenSend["kind"];
  started: number;
  freeAt: number;
}

interface Member {
  seq: number;
  key: string;
  body: string;
  occurredAt: number;
  trace: TraceContext | null;
}

/** The leased one first: a call that an operator retried is not sent beside the one in progress. */
const SELECT_OPEN = `
  SELECT send, key, kind, started, coalesce(due_at, lease_until) AS "freeAt"
  FROM pigeonhole.outbox_send
  WHERE state <> 'dead' AND (state = 'leased' OR started < ${BLOCKING_TRIES} OR due_at <= :now)
  ORDER BY state = 'pending', send LIMIT 1 FOR UPDATE`;

/** In any state: an event that was discarded meanwhile is still part of the call that may have arrived. */
const SELECT_MEMBERS = `
  SELECT seq, key, body, occurred_at AS "occurredAt", trace
  FROM pigeonhole.outbox_event WHERE send = :send ORDER BY position`;

/** An event that occurs later than now, by a clock that was ahead, would be refused: it waits until that time. */
const SELECT_WAITING = `
  SELECT seq, key, body, occurred_at AS "occurredAt", trace FROM pigeonhole.outbox_event
  WHERE state = 'pending' AND occurred_at <= :now ORDER BY seq LIMIT :limit FOR UPDATE`;

/**
 * A call may take long. Its lease ends sooner, and is prolonged while this process works: one whose event loop is
 * blocked keeps its session, and would hold up the contact events of all.
 */
const LEASE_UNTIL = `least(:leaseUntil::bigint, ${SERVER_TIME} + :holdsForMs)`;
const HOLDS_FOR_MS = MINUTE;

const LEASE_AGAIN = `
  UPDATE pigeonhole.outbox_send
  SET state = 'leased', lease = :token, lease_until = ${LEASE_UNTIL}, node = :node, due_at = NULL, waits_since = NULL,
    started = started + 1
  WHERE send = :send`;

const FREEZE = `
  WITH frozen AS (
    INSERT INTO pigeonhole.outbox_send (key, kind, state, lease, lease_until, node, started)
    VALUES (:key, :kind, 'leased', :token, ${LEASE_UNTIL}, :node, 1) RETURNING send
  ), members AS (
    UPDATE pigeonhole.outbox_event AS e SET state = 'leased', send = frozen.send, position = g.place - 1
    FROM unnest(:seqs::bigint[]) WITH ORDINALITY AS g (seq, place), frozen WHERE e.seq = g.seq
  )
  SELECT send FROM frozen`;

/**
 * Leases the one call that may be in progress, of all processes. Waiting events are frozen into a new one only when
 * there is none, or none that has failed less than `BLOCKING_TRIES` times: an event that overtook a call that fails
 * because of the service would fail as well.
 */
export function leaseSend(
  sql: Sql,
  { node, lockClass, token }: NodeLock & LeaseHolder,
  request: SendRequest,
): Promise<SendPage> {
  const { now, limit } = request;
  const lease = { leaseUntil: request.leaseUntil, holdsForMs: HOLDS_FOR_MS, node, token };
  return sql.transaction(async () => {
    await sql.run("SELECT pg_advisory_xact_lock(:lockClass, :of)", { lockClass, of: LOCKED.freezing });
    const open = await sql.row<OpenSend>(SELECT_OPEN, { now });
    if (open !== undefined) return leaseAgain(sql, open, { now, lease });
    const waiting = await sql.rows<Member>(SELECT_WAITING, { now, limit });
    if (waiting.length === 0) return { send: undefined, nextDueAt: undefined };
    const call = callKeyOf(waiting);
    const seqs = waiting.map(({ seq }) => seq);
    const frozen = await sql.row<{ send: number }>(FREEZE, { ...call, ...lease, seqs });
    return {
      send: { send: frozen?.send ?? 0, token, ...call, attempt: 1, events: eventsOf(waiting) },
      nextDueAt: undefined,
    };
  });
}

async function leaseAgain(
  sql: Sql,
  { send, key, kind, started, freeAt }: OpenSend,
  { now, lease }: { now: number; lease: LeaseHolder & { leaseUntil: number; holdsForMs: number } },
): Promise<SendPage> {
  if (freeAt > now) return { send: undefined, nextDueAt: freeAt };
  await sql.run(LEASE_AGAIN, { send, ...lease });
  const events = eventsOf(await sql.rows<Member>(SELECT_MEMBERS, { send }));
  return { send: { send, token: lease.token, key, kind, attempt: started + 1, events }, nextDueAt: undefined };
}

function eventsOf(members: readonly Member[]): FrozenSend["events"] {
  return members.map(({ seq, body, occurredAt, trace }) => ({
    seq,
    body,
    occurredAt,
    ...(trace !== null && { trace }),
  }));
}

/** Lets the leases of this process's calls hold for longer, those that have not ended. */
export async function prolongSends(sql: Sql, node: number): Promise<void> {
  await sql.run(
    `UPDATE pigeonhole.outbox_send SET lease_until = greatest(lease_until, ${SERVER_TIME} + :holdsForMs)
     WHERE state = 'leased' AND node = :node AND lease_until > ${SERVER_TIME}`,
    { node, holdsForMs: HOLDS_FOR_MS },
  );
}
