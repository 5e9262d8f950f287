import type { KeptStep } from "../../inbox-view.js";
import type { SettleResult } from "../../store.js";
import type { Lease } from "../../work.js";
import type { Sql } from "../sql.js";

/** Reads the values of a handler's finished steps, as long as it is not done. */
export async function loadSteps(sql: Sql, work: Pick<Lease, "seq" | "handler">): Promise<Record<string, string>> {
  const rows = await sql.rows<{ name: string; value: string }>(
    "SELECT name, value FROM pigeonhole.inbox_step WHERE seq = :seq AND handler = :handler AND value <> ''",
    work,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Reads the names and times of an event's finished steps, by handler, for people; oldest first. */
export async function readKeptSteps(sql: Sql, seq: number): Promise<(handler: string) => KeptStep[]> {
  const rows = await sql.rows<KeptStep & { handler: string }>(
    `SELECT handler, name, saved_at AS at FROM pigeonhole.inbox_step WHERE seq = :seq
     ORDER BY saved_at, name`,
    { seq },
  );
  return (handler) => rows.filter((row) => row.handler === handler).map(({ name, at }) => ({ name, at }));
}

/** Keeps the value of a finished step, while the lease holds. The first value of a name stays. */
export async function saveStep(sql: Sql, lease: Lease, name: string, value: string, at: number): Promise<SettleResult> {
  const kept = await sql.run(
    `INSERT INTO pigeonhole.inbox_step (seq, handler, name, value, saved_at)
     SELECT seq, handler, :name, :value, :at::bigint FROM pigeonhole.inbox_work
     WHERE seq = :seq AND handler = :handler AND lease = :token
     ON CONFLICT (seq, handler, name) DO UPDATE
       SET value = CASE inbox_step.value WHEN '' THEN excluded.value ELSE inbox_step.value END`,
    { ...lease, name, value, at },
  );
  return kept === 1 ? "settled" : "lost";
}
