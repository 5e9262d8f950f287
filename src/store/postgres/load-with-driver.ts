import { PigeonholeError } from "../../base/error.js";

/**
 * Loads a module that imports `pg`, which only users of PostgreSQL install. Rejects with `driver_unusable` where it is
 * missing.
 */
export async function loadWithDriver<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new PigeonholeError(
      "driver_unusable",
      "The store on PostgreSQL needs the package pg, which is not installed: npm install pg",
      { cause: error },
    );
  }
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && /'pg'/.test(error.message)
  );
}
