import type { ClientBase } from "pg";
import { type Clock, elapsedBy, systemClock } from "../../base/clock.js";
import type { Sql } from "./sql.js";

/**
 * Without it, what a session wrote that waits for a standby keeps its locks, and later deliveries of the event are
 * refused for as long.
 * Test: "of the connections that were given up, one that waits ends, and no other with its number".
 */
interface AbandonedSession {
  pid: number;
  /** By the clock that does not jump, in milliseconds. */
  abandonedAt: number;
}

const SERVER = "SELECT extract(epoch FROM pg_postmaster_start_time())::text AS server";

/**
 * Of those given, the sessions that are there; those that wait for a standby end. One that began after it was given up
 * is another session with the same number.
 */
const END = `
  SELECT pid, CASE wait_event WHEN 'SyncRep' THEN pg_terminate_backend(pid) END
  FROM pg_stat_activity JOIN unnest(:pids::integer[], :ages::float8[]) AS abandoned (pid, age) USING (pid)
  WHERE usename = current_user AND backend_start <= clock_timestamp() - age * interval '1 millisecond'`;

/**
 * Sessions whose connections were given up. The server does not notice that while one waits for a synchronous standby,
 * and that may be away for long.
 */
export class AbandonedSessions {
  readonly #clock: Clock;
  #sessions: AbandonedSession[] = [];
  /** When the server of these sessions started: on another one, or after a restart, their numbers are of others. */
  #server: string | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** This connection is given up. */
  add(client: ClientBase): void {
    if (!("processID" in client) || typeof client.processID !== "number") return;
    this.#sessions.push({ pid: client.processID, abandonedAt: elapsedBy(this.#clock) });
  }

  /** Ends those that wait. What they wrote is then visible, as after a restart of the server. */
  async end(sql: Sql): Promise<void> {
    const row = await sql.row<{ server: string }>(SERVER);
    if (row?.server !== this.#server) this.#sessions = [];
    this.#server = row?.server;
    const asked = [...this.#sessions];
    if (asked.length === 0) return;
    const now = elapsedBy(this.#clock);
    const left = await sql.rows<{ pid: number }>(END, {
      pids: asked.map(({ pid }) => pid),
      ages: asked.map(({ abandonedAt }) => now - abandonedAt),
    });
    const isLeft = new Set(left.map(({ pid }) => pid));
    // Others may have been given up meanwhile.
    this.#sessions = this.#sessions.filter((session) => !asked.includes(session) || isLeft.has(session.pid));
  }
}
