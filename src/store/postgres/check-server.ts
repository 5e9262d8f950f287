import { PigeonholeError } from "../../base/error.js";
import type { Sql } from "./sql.js";

const OLDEST_SERVER = 14;

interface ServerState {
  isReplica: boolean;
  version: number;
  encoding: string;
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
  isReadOnly: string;
}

/** Settings without which an event that was answered could be lost, under the server's names; only `on` is enough. */
const DURABLE = [
  ["fsync", "fsync"],
  ["fullPageWrites", "full_page_writes"],
] as const;

/** Refuses a server that cannot keep the store's promises; the message says what to do. */
export async function checkServer(sql: Sql): Promise<void> {
  const state = await sql.row<ServerState>(`
    SELECT pg_is_in_recovery() AS "isReplica", current_setting('server_version_num')::integer / 10000 AS version,
      current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS "fullPageWrites",
      current_setting('synchronous_commit') AS "synchronousCommit",
      current_setting('transaction_read_only') AS "isReadOnly"`);
  if (state === undefined) return;
  if (state.isReplica || state.isReadOnly === "on") {
    throw new PigeonholeError(
      "store_not_primary",
      "The server takes no writes: it is a replica, or its transactions are read-only. Connect to the primary.",
    );
  }
  if (state.version < OLDEST_SERVER) {
    throw new PigeonholeError(
      "server_unusable",
      `The server is PostgreSQL ${state.version}; ${OLDEST_SERVER} or newer is needed.`,
    );
  }
  if (state.encoding !== "UTF8") {
    throw new PigeonholeError(
      "server_unusable",
      `The database has the encoding ${state.encoding}, which cannot keep all ids; create one with ENCODING 'UTF8'.`,
    );
  }
  checkDurable(state);
}

function checkDurable(state: ServerState): void {
  for (const [name, setting] of DURABLE) {
    if (state[name] !== "on") throw notDurable(`${setting} = ${state[name]}`);
  }
  if (state.synchronousCommit !== "on" && state.synchronousCommit !== "remote_apply") {
    throw notDurable(`synchronous_commit = ${state.synchronousCommit}`);
  }
}

function notDurable(setting: string): PigeonholeError {
  return new PigeonholeError(
    "store_not_durable",
    `The server has ${setting}, so events that were answered could be lost. Set it to on.`,
  );
}
