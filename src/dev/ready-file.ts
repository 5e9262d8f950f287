import { renameSync, rmSync, writeFileSync } from "node:fs";

/** What a script needs to know of a running dev server. */
export interface ReadyNote {
  pid: number;
  captureUrl: string;
  publicUrl: string | null;
  /** Holds the page's token. */
  pageUrl: string | null;
}

/** Writes the file in one step, readable by this user only; returns what removes it. */
export function writeReadyFile(file: string, note: ReadyNote): () => void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(note, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
  return () => rmSync(file, { force: true });
}
