import type { Database } from "better-sqlite3";
import type { EventResult, SendSettlement } from "../../outbox.js";
import { prepareLater } from "../on-first-use.js";

/** Ends a try of a call. Every statement carries the token: a lease that was lost writes nothing. */
export function prepareSettleSend(db: Database) {
  const later = prepareLater(db);
  const remove = db
    .prepare<{ send: number; token: number }, number>(
      "DELETE FROM outbox_send WHERE send = :send AND state = 'leased' AND lease = :token RETURNING started",
    )
    .pluck();
  const setPending = later(`
    UPDATE outbox_send
    SET state = 'pending', due_at = :dueAt, waits_since = :at, error = :error, lease = NULL, lease_until = NULL
    WHERE send = :send AND state = 'leased' AND lease = :token`);
  const setDead = later(`
    UPDATE outbox_send SET state = 'dead', error = :message, lease = NULL, lease_until = NULL
    WHERE send = :send AND state = 'leased' AND lease = :token`);
  const setMembersDead = later(`
    UPDATE outbox_event SET state = 'dead', settled_at = :at, reason = :reason, code = :code, param = :param, message = :message
    WHERE send = :send AND state = 'leased'`);
  // Also those that were discarded meanwhile: the number of the call may be given again.
  const unfreezeRest = later(`
    UPDATE outbox_event SET state = iif(state = 'leased', 'again', state), send = NULL, position = NULL,
      attempts = attempts + :started
    WHERE send = :send`);
  const settleEvent = prepareSettleEvent(later);

  return (settlement: SendSettlement): "settled" | "lost" => {
    const { send, token, at } = settlement;
    switch (settlement.to) {
      case "settled": {
        const started = remove.get({ send, token });
        if (started === undefined) return "lost";
        for (const result of settlement.results) settleEvent(result, { send, started }, at);
        // An event that the answer did not name must not remain in a call that has ended.
        unfreezeRest().run({ send, started });
        return "settled";
      }
      case "pending": {
        const { dueAt, error } = settlement;
        return setPending().run({ send, token, at, dueAt, error }).changes === 1 ? "settled" : "lost";
      }
      case "dead": {
        const { reason, code, param, message } = settlement;
        if (setDead().run({ send, token, message }).changes === 0) return "lost";
        setMembersDead().run({ send, at, reason, code, param, message });
        return "settled";
      }
    }
  };
}

/** Settles one event of a call by the service's answer. */
function prepareSettleEvent(later: ReturnType<typeof prepareLater>) {
  // An event that was discarded before its call was retried stays so, unless the service has it.
  const markDone = later(`
    UPDATE outbox_event
    SET state = 'done', settled_at = :at, remote_id = :remoteId, message = NULL, send = NULL, position = NULL,
        attempts = attempts + :started
    WHERE seq = :seq AND send = :send`);
  const markDead = later(`
    UPDATE outbox_event
    SET state = 'dead', settled_at = :at, reason = :reason, code = :code, param = :param, message = :message,
        send = NULL, position = NULL, attempts = attempts + :started
    WHERE seq = :seq AND send = :send AND state = 'leased'`);
  const unfreeze = later(`
    UPDATE outbox_event SET state = 'again', send = NULL, position = NULL, attempts = attempts + :started
    WHERE seq = :seq AND send = :send AND state = 'leased'`);

  return (result: EventResult, call: { send: number; started: number }, at: number): void => {
    const { seq } = result;
    switch (result.to) {
      case "done":
        return void markDone().run({ ...call, seq, at, remoteId: result.remoteId });
      case "dead": {
        const { reason, code, param, message } = result;
        markDead().run({ ...call, seq, at, reason, code, param, message });
        return;
      }
      case "again":
        unfreeze().run({ ...call, seq });
    }
  };
}
