import type { EventResult, SendSettlement } from "../../outbox.js";
import type { Sql } from "../sql.js";

const IS_HELD = "send = :send AND state = 'leased' AND lease = :token";

const REMOVE = `DELETE FROM pigeonhole.outbox_send WHERE ${IS_HELD} RETURNING started`;

const SET_PENDING = `
  UPDATE pigeonhole.outbox_send
  SET state = 'pending', due_at = :dueAt, waits_since = :at, error = :error, lease = NULL, lease_until = NULL, node = NULL
  WHERE ${IS_HELD}`;

const SET_DEAD = `
  WITH given_up AS (
    UPDATE pigeonhole.outbox_send
    SET state = 'dead', error = :message, lease = NULL, lease_until = NULL, node = NULL WHERE ${IS_HELD} RETURNING send
  ), members AS (
    UPDATE pigeonhole.outbox_event AS e
    SET state = 'dead', settled_at = :at, reason = :reason, code = :code, param = :param, message = :message
    FROM given_up WHERE e.send = given_up.send AND e.state = 'leased'
  )
  SELECT send FROM given_up`;

/** An event that was discarded before its call was retried stays so, unless the service has it. */
const SETTLE_EVENTS = `
  UPDATE pigeonhole.outbox_event AS e
  SET state = r.state, settled_at = CASE WHEN r.state <> 'pending' THEN :at::bigint END, remote_id = r.remote_id,
    reason = r.reason, code = r.code, param = r.param, message = r.message, send = NULL, position = NULL,
    attempts = attempts + :started::integer
  FROM unnest(:seqs::bigint[], :states::text[], :remoteIds::text[], :reasons::text[], :codes::text[], :params::text[],
    :messages::text[]) AS r (seq, state, remote_id, reason, code, param, message)
  WHERE e.seq = r.seq AND e.send = :send AND (e.state = 'leased' OR r.state = 'done')`;

/** An event that the answer did not name must not remain in a call that has ended. */
const FREE_REST = `
  UPDATE pigeonhole.outbox_event
  SET state = CASE state WHEN 'leased' THEN 'pending' ELSE state END, send = NULL, position = NULL,
    attempts = attempts + :started::integer
  WHERE send = :send`;

/** Ends a try of a call. Every statement carries the token: a lease that was lost writes nothing. */
export function settleSend(sql: Sql, settlement: SendSettlement): Promise<"settled" | "lost"> {
  const { send, token } = settlement;
  switch (settlement.to) {
    case "settled":
      return sql.transaction(async () => {
        const call = await sql.row<{ started: number }>(REMOVE, { send, token });
        if (call === undefined) return "lost";
        const ended = { send, started: call.started, at: settlement.at };
        await sql.run(SETTLE_EVENTS, { ...ended, ...resultColumns(settlement.results) });
        await sql.run(FREE_REST, ended);
        return "settled";
      });
    case "pending":
      return write(sql, SET_PENDING, settlement);
    case "dead":
      return write(sql, SET_DEAD, settlement);
  }
}

async function write(sql: Sql, statement: string, settlement: SendSettlement): Promise<"settled" | "lost"> {
  return (await sql.run(statement, settlement)) === 1 ? "settled" : "lost";
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
