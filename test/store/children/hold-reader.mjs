// Holds a read transaction of a database open until it is told to end it.
import Database from "better-sqlite3";

const [file] = process.argv.slice(2);
const db = new Database(file, { readonly: true });
db.exec("BEGIN");
db.prepare("SELECT count(*) FROM inbox_event").get();
process.stdout.write("reading\n");
process.stdin.once("data", () => {
  db.exec("COMMIT");
  process.stdout.write("ended\n");
});
