import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";

// What an app may do to the inbox file in the receiver's own process. Each opens the file past SQLite's bookkeeping; a
// close ends the locks of the process on it.

/** @type {() => void} */
let endSecond = () => undefined;

/** @type {Record<string, (file: string) => Promise<void>>} */
export const MEDDLERS = {
  async "node:sqlite"(file) {
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(file);
    db.prepare("SELECT count(*) FROM inbox_event").get();
    db.close();
  },
  async "node:sqlite, which stays open"(file) {
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(file);
    db.exec("CREATE TABLE own (x)");
    const insert = db.prepare("INSERT INTO own VALUES (zeroblob(9000))");
    // What both write until the receiver has seen the other one may be damaged, so it writes from then on.
    let writing;
    const begin = setTimeout(() => (writing = setInterval(() => insert.run(), 5)), 500);
    endSecond = () => {
      clearTimeout(begin);
      clearInterval(writing);
      db.close();
    };
  },
  async "the end of it"() {
    endSecond();
  },
  async "a second better-sqlite3"(file) {
    const folder = mkdtempSync(join(tmpdir(), "pigeonhole-second-"));
    try {
      const db = new Database(file, { nativeBinding: copyBinding(folder) });
      db.prepare("SELECT count(*) FROM inbox_event").get();
      db.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  async "fs.cp of the folder"(file) {
    const folder = mkdtempSync(join(tmpdir(), "pigeonhole-copy-"));
    cpSync(dirname(file), folder, { recursive: true });
    rmSync(folder, { recursive: true });
  },
};

/** The same library from another path is loaded a second time, and knows nothing of the first. */
function copyBinding(folder) {
  const root = dirname(createRequire(import.meta.url).resolve("better-sqlite3/package.json"));
  const copy = join(folder, "copy.node");
  copyFileSync(findBinding(root), copy);
  return copy;
}

function findBinding(root) {
  const built = join(root, "build", "Release", "better_sqlite3.node");
  const prebuilt = join(root, "prebuilds", `${process.platform}${isMusl() ? "musl" : ""}-${process.arch}.node`);
  return readdirSync(root).includes("prebuilds") ? prebuilt : built;
}

function isMusl() {
  return process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined;
}
