import { existsSync, readFileSync, truncateSync } from "node:fs";
import type { Random } from "#pigeonhole/base/random.js";
import Database from "better-sqlite3";

const FULL = 2;
const WAL_HEADER = 32;
const FRAME_HEADER = 24;

type Pragma = (this: Database.Database, source: string, options?: Database.PragmaOptions) => unknown;
interface WatchedPrototype {
  pragma: Pragma;
  isWatched?: boolean;
}

const opened = new Map<string, Set<Database.Database>>();

/** From here on it is known which connections are open, of every copy of the package that shares this library. */
export function watchConnections(): void {
  const watched = Database.prototype as WatchedPrototype;
  if (watched.isWatched === true) return;
  watched.isWatched = true;
  const { pragma } = watched;
  watched.pragma = function notePragma(...args) {
    const connections = opened.get(this.name) ?? new Set();
    opened.set(this.name, connections.add(this));
    return pragma.apply(this, args);
  };
}

/** Forgets the connections to the files of a world that has ended. */
export function forgetConnections(folder: string): void {
  for (const file of opened.keys()) if (file.startsWith(folder)) opened.delete(file);
}

/** True when a commit through every open connection that can write is on the disk before it is answered. */
export function isSynced(file: string): boolean {
  const open = [...(opened.get(file) ?? [])].filter((db) => db.open && !db.readonly);
  return open.every((db) => Number(db.pragma("synchronous", { simple: true })) >= FULL);
}

/**
 * Takes from the copy of a WAL what a power cut takes when its commits were not synced: a random number of its last
 * frames.
 */
export function dropUnsynced(file: string, random: Random): void {
  const wal = `${file}-wal`;
  if (!existsSync(wal)) return;
  const bytes = readFileSync(wal);
  if (bytes.length < WAL_HEADER) return;
  const frame = FRAME_HEADER + bytes.readUInt32BE(8);
  const frames = Math.floor((bytes.length - WAL_HEADER) / frame);
  truncateSync(wal, WAL_HEADER + Math.floor(random() * (frames + 1)) * frame);
}
