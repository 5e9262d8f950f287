import type { OwnConnection } from "./own-connection.js";
import type { Sql } from "./sql.js";

/** Held by a connection while the process has the store open: a lock that is gone means a process that is gone. */
const LOCK = "pg_try_advisory_lock(:lockClass, :node)";

/** This process among those that work on the data. */
export class NodeSession {
  readonly #connection: OwnConnection;
  readonly #lockClass: number;
  #node: number | undefined;

  constructor(connection: OwnConnection, lockClass: number) {
    this.#connection = connection;
    this.#lockClass = lockClass;
  }

  /** The number in the leases of this process. */
  get node(): number {
    return this.#node ?? 0;
  }

  /** Takes a number, and its lock. */
  async begin(): Promise<void> {
    const row = await this.#connection.run("opening the store", (sql) =>
      sql.row<{ node: number }>("SELECT nextval('pigeonhole.node_number') AS node"),
    );
    this.#node = row?.node;
    await this.hold();
  }

  /**
   * Takes the lock again if its connection was lost. Until the server has noticed that, the lost connection holds it.
   * Rejects with `store_unreachable` or the like where that cannot be.
   */
  async hold(): Promise<void> {
    const { node } = this;
    const lockClass = this.#lockClass;
    await this.#connection.run("holding the store", async (sql) => {
      if (await isHeld(sql, { node, lockClass })) return;
      await sql.run(`SELECT ${LOCK}`, { node, lockClass });
      // The lock comes first: a row without one would be that of a dead process.
      await sql.run(
        `INSERT INTO pigeonhole.node (id, server_start) VALUES (:node, pg_postmaster_start_time())
         ON CONFLICT (id) DO UPDATE SET server_start = excluded.server_start`,
        { node },
      );
    });
  }

  /** Ends with the connection, and so does the lock. */
  end(): Promise<void> {
    return this.#connection.end();
  }
}

async function isHeld(sql: Sql, of: { node: number; lockClass: number }): Promise<boolean> {
  const found = await sql.row(
    `SELECT 1 AS found FROM pg_locks
     WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND objsubid = 2
       AND classid = (:lockClass::bigint & 4294967295)::oid AND objid = :node::bigint::oid AND granted`,
    of,
  );
  return found !== undefined;
}
