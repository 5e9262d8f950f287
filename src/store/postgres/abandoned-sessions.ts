import type { ClientBase } from "pg";
import type { Sql } from "./sql.js";

/** Of those given, the sessions that are there; those that wait for a standby end. */
const END = `
  SELECT pid, CASE wait_event WHEN 'SyncRep' THEN pg_terminate_backend(pid) END FROM pg_stat_activity
  WHERE pid = ANY(:pids::integer[]) AND usename = current_user`;

/**
 * Sessions whose connections were given up. The server does not notice that while one waits for a synchronous standby,
 * and that may be away for long.
 */
export class AbandonedSessions {
  #pids: number[] = [];

  /** This connection is given up. */
  add(client: ClientBase): void {
    if ("processID" in client && typeof client.processID === "number") this.#pids.push(client.processID);
  }

  /** Ends those that wait. What they wrote is then visible, as after a restart of the server. */
  async end(sql: Sql): Promise<void> {
    if (this.#pids.length === 0) return;
    const left = await sql.rows<{ pid: number }>(END, { pids: this.#pids });
    this.#pids = left.map(({ pid }) => pid);
  }
}
