import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import type { OwnConnection } from "./own-connection.js";

const ARRIVES_WITHIN_MS = 2 * SECOND;

/**
 * Without it, another process takes the work of one that runs, and effects happen twice. Test: "a process that runs
 * handlers is refused behind such a pooler, and told what to give".
 *
 * Refuses a connection that has another session for each transaction, as behind a pooler in transaction mode: a lock of
 * its session would not be this process's. A notification sent on another connection only arrives in a session that
 * lasts.
 */
export async function checkLastingSession(session: OwnConnection, other: OwnConnection): Promise<void> {
  const channel = `pigeonhole_${randomUUID().replaceAll("-", "_")}`;
  const hasArrived = await session.run("opening the store", async (sql, client) => {
    const arrival = once(client, "notification", { signal: AbortSignal.timeout(ARRIVES_WITHIN_MS) }).then(
      () => true,
      () => false,
    );
    await sql.script(`LISTEN ${channel}`);
    await other.run("opening the store", (sending) => sending.script(`NOTIFY ${channel}`));
    const result = await arrival;
    await sql.script(`UNLISTEN ${channel}`);
    return result;
  });
  if (hasArrived) return;
  throw new PigeonholeError(
    "server_unusable",
    "The connection has no session that lasts: a pooler in transaction mode is in front of the server. Give createPostgresStore the option sessionConnectionString, with the URL of the server itself or of a pooler in session mode; a receiver that only accepts needs none.",
  );
}
