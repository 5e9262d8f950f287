import { realpathSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type EraseOptions, type ErasePage, type EraseRequest, eraseAll, isAnyFound } from "../erase.js";
import type { OperatorErasure } from "../inbox-operator.js";
import type { OutsideConnection } from "./open-outside-connection.js";
import { erasePage } from "../queries/erase.js";
import { IN_MEMORY } from "./open-database.js";
import { overwriting } from "./overwriting.js";
import { runBeside, tryWhileBusy } from "./run-beside.js";
import { runInFile } from "./run-in-file.js";

/** Between two pages that were written, so that a receiver which waits for the database gets it. */
const BETWEEN_PAGES_MS = 20;

/** Erases from a file beside its receiver. Pages without a mention are only read, which no receiver waits for. */
export async function eraseFromFile(
  { file, connection, now }: { file: string; connection: OutsideConnection; now: () => number },
  { email, dryRun = false }: EraseOptions,
): Promise<OperatorErasure> {
  const { db, keepsWal } = connection;
  const erase = (request: EraseRequest): ErasePage => overwriting(db, () => runInFile(db, erasePage(request)));
  const counts = await eraseAll(async (cursor) => {
    const request = { email, now: now(), cursor };
    const seen = await runBeside(db, "deferred", () => erase({ ...request, dryRun: true }));
    const isRead = dryRun || !isAnyFound(seen);
    const page = isRead ? seen : await runBeside(db, "immediate", () => erase({ ...request, dryRun: false }));
    await sleep(isRead ? 0 : BETWEEN_PAGES_MS);
    return page;
  });
  if (dryRun || file === IN_MEMORY) return { ...counts, walLeft: undefined };
  // A WAL that was there before is not truncated: a receiver that has lost its locks looks like none. PASSIVE takes no
  // lock that a receiver waits for. The WAL of this connection alone is emptied, so that it keeps no old version for a
  // receiver that starts now.
  await tryWhileBusy(() => db.pragma(`wal_checkpoint(${keepsWal ? "PASSIVE" : "TRUNCATE"})`));
  return { ...counts, walLeft: findOldVersions(file) };
}

/**
 * Path of the WAL beside a database, which has old versions of changed pages; undefined where it is missing or empty.
 * It is there while a receiver runs, and after one crashed.
 */
function findOldVersions(file: string): string | undefined {
  const path = `${realpathSync(file)}-wal`;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 ? path : undefined;
}
