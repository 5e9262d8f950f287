import { MINUTE } from "../../../base/duration.js";
import type { SendPage, SendRequest } from "../../outbox.js";
import { leaseCall } from "../../queries/outbox-calls.js";
import { HELD_LOCKS, LOCKED } from "../advisory-lock.js";
import type { Sql } from "../sql.js";
import type { LeaseHolder, ProcessLock } from "./recover.js";
import { SERVER_TIME } from "../database-clock.js";

/**
 * A call may take long. Its lease ends sooner, and is prolonged while this process works: one whose event loop is
 * blocked keeps its session, and would hold up the contact events of all.
 */
const HOLDS_FOR_MS = MINUTE;

/** Leases the call that is made next, of all processes. */
export function leaseSend(
  sql: Sql,
  { process, lockClass, token }: ProcessLock & LeaseHolder,
  request: SendRequest,
): Promise<SendPage> {
  return sql.transaction(async () => {
    await sql.run("SELECT pg_advisory_xact_lock(:lockClass, :of)", { lockClass, of: LOCKED.freezing });
    const leaseUntil = Math.min(request.leaseUntil, request.now + HOLDS_FOR_MS);
    return sql.perform(leaseCall({ ...request, leaseUntil }, { token, process }));
  });
}

/** Lets the leases of this process's calls hold for longer, those that have not ended. */
export async function prolongSends(sql: Sql, process: number): Promise<void> {
  await sql.run(
    `UPDATE pigeonhole.outbox_send SET lease_until = greatest(lease_until, ${SERVER_TIME} + :holdsForMs)
     WHERE state = 'leased' AND process = :process AND lease_until > ${SERVER_TIME}`,
    { process, holdsForMs: HOLDS_FOR_MS },
  );
}

/**
 * Takes the one row, or keeps it. Another process gets it when its holder has gone or has not used it for a minute, in
 * which the service's limit has passed: so each minute has the calls of one process. Never during a call.
 */
const MAY_SEND = `
  INSERT INTO pigeonhole.outbox_sender AS s (id, process, used_at) VALUES (1, :process, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET process = excluded.process, used_at = excluded.used_at
  WHERE s.process = excluded.process OR (
    NOT EXISTS (SELECT 1 FROM pigeonhole.outbox_send WHERE state = 'leased')
    AND (s.used_at < clock_timestamp() - interval '1 minute'
      OR NOT EXISTS (SELECT 1 FROM ${HELD_LOCKS} WHERE number = s.process)))`;

export async function maySend(sql: Sql, { process, lockClass }: ProcessLock): Promise<boolean> {
  return (await sql.run(MAY_SEND, { process, lockClass })) === 1;
}
