import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { Store } from "pigeonhole";
import { operate } from "../support/operate.js";
import { EFFECT_TABLE, HISTORIAN, HISTORIAN_TYPE, OLD_EVENTS, hasHandler } from "./handlers.js";
import type { Kit } from "./machine.js";

/** One world of so many sees the first start of all, in which the store makes its tables. */
const FIRST_STARTS = 8;

const stoppedFiles = new WeakMap<Kit, Buffer>();

/**
 * The file that a world begins with: the user's own, or one that the package has worked on and closed, which opens
 * faster.
 */
export async function makeFirstFile(
  folder: string,
  { seed, kit, now }: { seed: number; kit: Kit; now: number },
): Promise<string> {
  const file = join(folder, "inbox.db");
  const isOwn = hasHandler(seed, HISTORIAN);
  const known = isOwn || seed % FIRST_STARTS === 0 ? undefined : stoppedFiles.get(kit);
  if (known !== undefined) {
    writeFileSync(file, known);
    return file;
  }
  new Database(file).exec(EFFECT_TABLE).close();
  if (seed % FIRST_STARTS === 0 && !isOwn) return file;
  const store = kit.createSqliteStore({ file, thread: false });
  await store.open({ logger: silentLogger });
  if (isOwn) await planHistory(store, now);
  await store.close();
  if (isOwn) return file;
  stoppedFiles.set(kit, readFileSync(file));
  return file;
}

/** Events that no handler had, and a job that gives them to one. */
async function planHistory(store: Store, now: number): Promise<void> {
  const event = { type: HISTORIAN_TYPE, createdAt: new Date(now).toISOString(), data: {} };
  for (const id of OLD_EVENTS) {
    const body = Buffer.from(JSON.stringify({ ...event, id }));
    await store.accept({ id, type: event.type, test: false, body, receivedAt: now, signedAt: now, work: [] });
  }
  await operate(store, now).planHistory({ handler: HISTORIAN, handlerTypes: [HISTORIAN_TYPE], by: "world" });
}
