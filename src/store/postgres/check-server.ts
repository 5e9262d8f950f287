import { type ErrorCode, PigeonholeError } from "../../base/error.js";
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

/** Refuses a server that cannot keep the store's promises; the message says what to do. */
export async function checkServer(sql: Sql): Promise<void> {
  const state = await sql.row<ServerState>(`
    SELECT pg_is_in_recovery() AS "isReplica", current_setting('server_version_num')::integer / 10000 AS version,
      current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS "fullPageWrites",
      current_setting('synchronous_commit') AS "synchronousCommit",
      current_setting('transaction_read_only') AS "isReadOnly"`);
  if (state === undefined) return;
  const { isReplica, isReadOnly, version, encoding, fsync, fullPageWrites, synchronousCommit } = state;
  const refuse = (isWrong: boolean, code: ErrorCode, why: string): void => {
    if (isWrong) throw new PigeonholeError(code, why);
  };
  const lost = "so events that were answered could be lost. Set it to on.";
  refuse(
    isReplica || isReadOnly === "on",
    "store_not_primary",
    "The server takes no writes: it is a replica, or its transactions are read-only. Connect to the primary.",
  );
  refuse(
    version < OLDEST_SERVER,
    "server_unusable",
    `The server is PostgreSQL ${version}; ${OLDEST_SERVER} or newer is needed.`,
  );
  refuse(
    encoding !== "UTF8",
    "server_unusable",
    `The database has the encoding ${encoding}, which cannot keep all ids; create one with ENCODING 'UTF8'.`,
  );
  refuse(fsync !== "on", "store_not_durable", `The server has fsync = ${fsync}, ${lost}`);
  refuse(fullPageWrites !== "on", "store_not_durable", `The server has full_page_writes = ${fullPageWrites}, ${lost}`);
  refuse(
    !["on", "remote_apply"].includes(synchronousCommit),
    "store_not_durable",
    `The server has synchronous_commit = ${synchronousCommit}, ${lost}`,
  );
}
