// Holds the write lock of a database until it is told to let go, or for a time.
import Database from "better-sqlite3";

const [file, holdMs] = process.argv.slice(2);
const db = new Database(file);
db.exec("BEGIN IMMEDIATE");
process.stdout.write("held\n");

function release() {
  if (db.inTransaction) db.exec("ROLLBACK");
  process.stdout.write("released\n");
}

if (holdMs !== undefined) setTimeout(release, Number(holdMs));
process.stdin.once("data", release);
process.stdin.once("end", () => process.exit());
