// A receiver's process in which something has opened and closed the file, before the store has noticed: the locks are
// gone, and acknowledged events are in the WAL alone.
import { closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";

const [file] = process.argv.slice(2);
const db = new Database(file);
db.pragma("wal_autocheckpoint = 0");
db.exec("CREATE TABLE mine (x); INSERT INTO mine VALUES (7)");
for (const end of ["", "-wal", "-shm"]) closeSync(openSync(`${file}${end}`));
process.stdout.write("lost\n");
// The connection must not be collected, which would close it.
process.stdin.on("data", () => db.open);
