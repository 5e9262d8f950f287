import { errorFields } from "../../base/error-fields.js";
import { identify, isSameFile } from "./file-identity.js";
import { hasSecondSqlite } from "./own-locks.js";
import { type OpenStore, type OpenStoreOptions, openStore } from "./open-store.js";

/**
 * Tries to open the files of `lost` again, as often as the result is called; undefined while that is not possible. What
 * fails is logged once, and again when it is another error.
 */
export function prepareReopen(options: OpenStoreOptions & { lost: OpenStore }): () => Promise<OpenStore | undefined> {
  let logged: string | undefined;
  return async () => {
    if (!canReopen(options.lost)) return undefined;
    try {
      return await openStore(options);
    } catch (error) {
      // The message of the user's own error may quote a row.
      const fields = errorFields(error, false);
      const text = JSON.stringify(fields);
      if (text !== logged) options.logger.error(fields, "reopen_failed");
      logged = text;
      return undefined;
    }
  };
}

/**
 * True once the database is back at its path. SQLite shares its state of a file among all connections of a process, so
 * one of the app's own connections would lead a new opening to the old files; that can be detected only where the locks
 * are visible. Beside a second SQLite, the new opening would not last.
 */
function canReopen({ files }: OpenStore): boolean {
  if (files?.data.locks === undefined) return false;
  const { file, database, locks, sharedMemory } = files.data;
  return isSameFile(identify(file), database) && !hasSecondSqlite(locks, sharedMemory);
}
