// Owns a store and holds a lease on one event, until it is killed. Under a umask, if one is given.
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";

const [file, umask] = process.argv.slice(2);
if (umask !== undefined) process.umask(umask);
const store = createSqliteStore({ file });
await store.open({ logger: silentLogger });
const { owner } = await store.recover(Date.now());
const leaseUntil = Date.now() + 3_600_000;
await store.accept({
  id: "evt_1",
  type: "email.received",
  receivedAt: Date.now(),
  signedAt: Date.now(),
  test: false,
  body: Buffer.from("{}"),
  work: [{ handler: "h", leaseUntil }],
});
process.stdout.write(`owner ${owner}\n`);
process.stdin.resume();
