// Accepts events one after the other through the writer thread.
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";

const [file, prefix, count] = process.argv.slice(2);
const store = createSqliteStore({ file });
await store.open({ logger: silentLogger });
for (let number = 0; number < Number(count); number += 1) {
  const id = `${prefix}_${number}`;
  await store.accept({ id, type: "", receivedAt: 1, signedAt: 1, test: false, body: Buffer.from(id), work: [] });
}
// Without a close, which would sync once more.
process.exit();
