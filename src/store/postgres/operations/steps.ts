import type { SettleResult } from "../../store.js";
import type { Lease } from "../../work.js";
import type { Sql } from "../sql.js";

/** Reads the values of a handler's finished steps. */
export async function loadSteps(sql: Sql, work: Pick<Lease, "seq" | "handler">): Promise<Record<string, string>> {
  const rows = await sql.rows<{ name: string; value: string }>(
    "SELECT name, value FROM pigeonhole.inbox_step WHERE seq = :seq AND handler = :handler",
    work,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Keeps the value of a finished step, while the lease holds. The first value of a name stays. */
export async function saveStep(sql: Sql, lease: Lease, name: string, value: string): Promise<SettleResult> {
  const kept = await sql.run(
    `INSERT INTO pigeonhole.inbox_step (seq, handler, name, value)
     SELECT seq, handler, :name, :value FROM pigeonhole.inbox_work
     WHERE seq = :seq AND handler = :handler AND lease = :token
     ON CONFLICT (seq, handler, name) DO UPDATE SET value = inbox_step.value`,
    { ...lease, name, value },
  );
  return kept === 1 ? "settled" : "lost";
}
