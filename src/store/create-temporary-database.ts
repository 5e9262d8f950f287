import { readDatabasePlace } from "./connection-string.js";
import { loadWithDriver } from "./postgres/load-with-driver.js";
import type { TemporaryDatabase } from "./postgres/temporary-database.js";

/** Creates an empty database on the server that the URL names, beside the database there. */
export async function createTemporaryDatabase(place: string): Promise<TemporaryDatabase> {
  readDatabasePlace(place);
  const { createDatabaseBeside } = await loadWithDriver(() => import("./postgres/temporary-database.js"));
  return createDatabaseBeside(place);
}
