import type { NewEvent } from "../../store.js";
import type { Sql } from "../sql.js";

/** An event that may have been stored with leases that nobody was told of. */
export type UnansweredEvent = Pick<NewEvent, "id" | "receivedAt">;

/** The time tells it from an earlier delivery of the id, whose handler may be running. */
const RELEASE = `
  WITH unknown AS MATERIALIZED (
    SELECT w.seq, w.handler, e.received_at
    FROM unnest(:ids::text[], :receivedAts::bigint[]) AS g (id, received_at)
      JOIN pigeonhole.inbox_event AS e ON e.id = g.id AND e.received_at = g.received_at
      JOIN pigeonhole.inbox_work AS w ON w.seq = e.seq
    WHERE w.state = 'leased' AND w.node = :node ORDER BY w.seq, w.handler FOR UPDATE OF w SKIP LOCKED
  )
  UPDATE pigeonhole.inbox_work AS w
  SET state = 'pending', due_at = unknown.received_at, lease = NULL, lease_until = NULL, node = NULL,
    started = started - 1
  FROM unknown WHERE w.seq = unknown.seq AND w.handler = unknown.handler`;

/** Makes their work pending, as if it had not been leased. */
export async function releaseUnanswered(sql: Sql, node: number, events: readonly UnansweredEvent[]): Promise<void> {
  await sql.run(RELEASE, {
    node,
    ids: events.map(({ id }) => id),
    receivedAts: events.map(({ receivedAt }) => receivedAt),
  });
}
