import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { type EraseCounts, type EraseOptions, eraseAll, isAnyFound } from "../erase.js";
import { prepareErase } from "./operations/erase.js";
import { runBeside, tryWhileBusy } from "./run-beside.js";

/** Between two pages that were written, so that a receiver which waits for the database gets it. */
const BETWEEN_PAGES_MS = 20;

/** Erases from a file beside its receiver. Pages without a mention are only read, which no receiver waits for. */
export async function eraseFromFile(
  { db, now }: { db: Database; now: () => number },
  { email, dryRun = false }: EraseOptions,
): Promise<EraseCounts> {
  const erase = prepareErase(db);
  const counts = await eraseAll(async (cursor) => {
    const request = { email, now: now(), cursor };
    const seen = await runBeside(db, "deferred", () => erase({ ...request, dryRun: true }));
    const isRead = dryRun || !isAnyFound(seen);
    const page = isRead ? seen : await runBeside(db, "immediate", () => erase({ ...request, dryRun: false }));
    await sleep(isRead ? 0 : BETWEEN_PAGES_MS);
    return page;
  });
  // Takes no lock that a receiver waits for, and leaves its WAL where it is.
  if (!dryRun) await tryWhileBusy(() => db.pragma("wal_checkpoint(PASSIVE)"));
  return counts;
}
