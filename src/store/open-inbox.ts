import { isConnectionString, readDatabasePlace } from "./connection-string.js";
import type { InboxOperator } from "./inbox-operator.js";
import { loadWithDriver } from "./postgres/load-with-driver.js";
import { openInboxFile } from "./sqlite/open-inbox-file.js";
import type { TemporaryDatabase } from "./postgres/temporary-database.js";

/**
 * Opens the database of a receiver to list, retry and discard its events; the receiver may be running. `place` is the
 * path of a file, or the URL of a PostgreSQL, with `#` and the schema if that is not `pigeonhole`. Rejects with
 * `invalid_argument` for a missing file, missing tables or an old schema, `not_a_pigeonhole_database` and
 * `schema_too_new`; none of them changes the database.
 */
export async function openInbox(place: string): Promise<InboxOperator> {
  if (!isConnectionString(place)) return openInboxFile(place);
  const { openInboxDatabase } = await loadWithDriver(() => import("./postgres/open-inbox-database.js"));
  return openInboxDatabase(place);
}

/** Creates an empty database on the server that the URL names, beside the database there. */
export async function createTemporaryDatabase(place: string): Promise<TemporaryDatabase> {
  readDatabasePlace(place);
  const { createDatabaseBeside } = await loadWithDriver(() => import("./postgres/temporary-database.js"));
  return createDatabaseBeside(place);
}
