// Opens a store when told to, and says what came of it.
import { once } from "node:events";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";

const [file] = process.argv.slice(2);
const store = createSqliteStore({ file });
process.stdout.write("ready\n");
await once(process.stdin, "data");
try {
  await store.open({ logger: silentLogger });
  process.stdout.write("open\n");
  await store.close();
} catch (error) {
  process.stdout.write(`${error.code} ${error.message}\n`);
}
process.exit();
