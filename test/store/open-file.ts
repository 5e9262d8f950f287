import { onTestFinished } from "vitest";
import { type SqliteStore, createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { StoreContext } from "#pigeonhole/store/store.js";
import { context } from "./conformance/new-event.js";

/** A store in the file that is open, by its thread if not said otherwise, and closed after the test. */
export async function openFile(
  file: string,
  { thread = true, ...given }: Partial<StoreContext> & { thread?: boolean } = {},
): Promise<SqliteStore> {
  const store = createSqliteStore({ file, thread });
  onTestFinished(() => store.close());
  await store.open({ ...context, ...given });
  return store;
}
