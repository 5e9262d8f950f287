import { createHash } from "node:crypto";
import type { EventResult, FrozenSend, SendPage, SendRequest, SendSettlement } from "../outbox.js";
import type { TraceContext } from "../trace-context.js";
import { SERVER_COLUMNS, type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/**
 * A call that has failed so often no longer keeps others waiting: the cause may be in its own events. With the waits
 * between tries that is after most of an hour, or later if the service asks for longer ones.
 */
export const BLOCKING_TRIES = 14;

interface KnownCall extends Pick<FrozenSend, "send" | "key" | "kind"> {
  started: number;
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
  SELECT send, key, kind, started, coalesce(due_at, lease_until) AS "freeAt" FROM pigeonhole.outbox_send
  WHERE state <> 'dead' AND (state = 'leased' OR started < ${BLOCKING_TRIES} OR due_at <= :now)
  ORDER BY state = 'pending', send LIMIT 1 FOR UPDATE`;

/** In any state: an event that was discarded meanwhile is still part of the call that may have arrived. */
const SELECT_MEMBERS = `
  SELECT seq, body, occurred_at AS "occurredAt", trace
  FROM pigeonhole.outbox_event WHERE send = :send ORDER BY position`;

/** An event that occurs later than now, by a clock that was ahead, would be refused: it waits until that time. */
const SELECT_WAITING = `
  SELECT seq, key FROM pigeonhole.outbox_event
  WHERE state = 'pending' AND occurred_at <= :now ORDER BY seq LIMIT :limit FOR UPDATE`;

const FREEZE = `
  UPDATE pigeonhole.outbox_event AS e SET state = 'leased', send = :send, position = g.place
  FROM (
    SELECT seq, row_number() OVER (ORDER BY seq) - 1 AS place FROM pigeonhole.outbox_event WHERE seq = ANY(:seqs)
  ) AS g WHERE e.seq = g.seq`;

const LEASE = `
  UPDATE pigeonhole.outbox_send
  SET state = 'leased', lease = :token, lease_until = :leaseUntil, ${SERVER_COLUMNS.ofProcess}due_at = NULL,
    waits_since = NULL, started = started + 1
  WHERE send = :send`;

/**
 * Leases the one call that may be in progress, of all processes. Waiting events are frozen into a new one only when
 * there is none, or none that has failed less than `BLOCKING_TRIES` times: an event that overtook a call that fails
 * because of the service would fail as well.
 */
export function* leaseCall(request: SendRequest, holder: { token: number; process?: number }): StoreQuery<SendPage> {
  const { now, leaseUntil } = request;
  const open = yield* readFirst<KnownCall & { freeAt: number }>(SELECT_OPEN, { now });
  if (open !== undefined && open.freeAt > now) return { send: undefined, nextDueAt: open.freeAt };
  const call = open ?? (yield* freezeCall(request));
  if (call === undefined) return { send: undefined, nextDueAt: undefined };
  const { send, key, kind, started } = call;
  yield* run(LEASE, { send, leaseUntil, ...holder });
  const members = yield* readRows<Member>(SELECT_MEMBERS, { send });
  const events = members.map(({ trace, ...event }) => ({ ...event, ...(trace !== null && { trace }) }));
  return { send: { send, token: holder.token, key, kind, attempt: started + 1, events }, nextDueAt: undefined };
}

/** Undefined when no event waits. */
function* freezeCall({ now, limit }: SendRequest): StoreQuery<KnownCall | undefined> {
  const waiting = yield* readRows<{ seq: number; key: string }>(SELECT_WAITING, { now, limit });
  if (waiting.length === 0) return undefined;
  const call = callKeyOf(waiting);
  const made = yield* readFirst<{ send: number }>(
    `INSERT INTO pigeonhole.outbox_send (key, kind, state, due_at, started)
     VALUES (:key, :kind, 'pending', :now, 0) RETURNING send`,
    { ...call, now },
  );
  const send = made?.send ?? 0;
  yield* run(FREEZE, { send, seqs: waiting.map(({ seq }) => seq) });
  return { ...call, send, started: 0 };
}

/** Derived from the members' keys in their order, so that the same members are never sent under two keys. */
function callKeyOf(events: readonly { key: string }[]): { kind: "single" | "batch"; key: string } {
  const [first] = events;
  if (events.length === 1 && first !== undefined) return { kind: "single", key: first.key };
  const keys = JSON.stringify(events.map(({ key }) => key));
  return { kind: "batch", key: createHash("sha256").update(keys).digest("base64url") };
}

const IS_HELD = "send = :send AND state = 'leased' AND lease = :token";
const END_LEASE = `${SERVER_COLUMNS.noProcess}lease = NULL, lease_until = NULL`;

/** An event that was discarded before its call was retried stays so, unless the service has it. */
const SETTLE_EVENTS = `
  UPDATE pigeonhole.outbox_event AS e
  SET state = r.state, settled_at = CASE WHEN r.state <> 'pending' THEN :at::bigint END, remote_id = r.remote_id,
    reason = r.reason, code = r.code, param = r.param, message = r.message, send = NULL, position = NULL,
    attempts = attempts + :started::integer
  FROM unnest(:seqs::bigint[], :states::text[], :remoteIds::text[], :reasons::text[], :codes::text[], :params::text[],
    :messages::text[]) AS r (seq, state, remote_id, reason, code, param, message)
  WHERE e.seq = r.seq AND e.send = :send AND (e.state = 'leased' OR r.state = 'done')`;

/** Also those that were discarded meanwhile. An event that the answer did not name must not remain in its call. */
const FREE_REST = `
  UPDATE pigeonhole.outbox_event
  SET state = CASE state WHEN 'leased' THEN 'pending' ELSE state END, send = NULL, position = NULL,
    attempts = attempts + :started::integer
  WHERE send = :send`;

/** Ends a try of a call. Every statement carries the token: a lease that was lost writes nothing. */
export function* settleCall(settlement: SendSettlement): StoreQuery<"settled" | "lost"> {
  const { send, token, at } = settlement;
  switch (settlement.to) {
    case "settled": {
      const call = yield* readFirst<{ started: number }>(
        `DELETE FROM pigeonhole.outbox_send WHERE ${IS_HELD} RETURNING started`,
        { send, token },
      );
      if (call === undefined) return "lost";
      const ended = { send, started: call.started, at };
      yield* run(SETTLE_EVENTS, { ...ended, ...resultColumns(settlement.results) });
      yield* run(FREE_REST, ended);
      return "settled";
    }
    case "pending": {
      const waits = `
        UPDATE pigeonhole.outbox_send
        SET state = 'pending', due_at = :dueAt, waits_since = :at, error = :error, ${END_LEASE} WHERE ${IS_HELD}`;
      return (yield* run(waits, settlement)) === 1 ? "settled" : "lost";
    }
    case "dead": {
      const { reason, code = null, param = null, message } = settlement;
      const givenUp = `UPDATE pigeonhole.outbox_send SET state = 'dead', error = :message, ${END_LEASE} WHERE ${IS_HELD}`;
      if ((yield* run(givenUp, { send, token, message })) === 0) return "lost";
      yield* run(
        `UPDATE pigeonhole.outbox_event
         SET state = 'dead', settled_at = :at, reason = :reason, code = :code, param = :param, message = :message
         WHERE send = :send AND state = 'leased'`,
        { send, at, reason, code, param, message },
      );
      return "settled";
    }
  }
}

function resultColumns(results: readonly EventResult[]) {
  const dead = results.map((result) => (result.to === "dead" ? result : undefined));
  return {
    seqs: results.map(({ seq }) => seq),
    states: results.map(({ to }) => (to === "again" ? "pending" : to)),
    remoteIds: results.map((result) => (result.to === "done" ? result.remoteId : null)),
    reasons: dead.map((result) => result?.reason ?? null),
    codes: dead.map((result) => result?.code ?? null),
    params: dead.map((result) => result?.param ?? null),
    messages: dead.map((result) => result?.message ?? null),
  };
}
