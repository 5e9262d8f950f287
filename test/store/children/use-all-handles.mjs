// Runs with a limit on open files, and uses them all for a while, as a flood of connections does. Prints what came of
// each event.
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";

const [file] = process.argv.slice(2);
/** Longer than the store waits between two checks of its files. */
const LONG_MS = 600;

const outcomes = [];
const accept = (id) =>
  store
    .accept({ id, type: "email.received", receivedAt: 1, signedAt: 1, test: false, body: Buffer.alloc(10), work: [] })
    .then(
      ({ kind }) => outcomes.push(kind),
      ({ code, message }) => outcomes.push(`${code}: ${message}`),
    );

const store = createSqliteStore({ file });
await store.open({ logger: silentLogger, onAlarm: (alarm) => outcomes.push(`alarm ${alarm.message}`) });
await accept("before");
const handles = [];
let failure;
while (failure === undefined) {
  try {
    handles.push(openSync("/dev/null"));
  } catch (error) {
    failure = error.code;
  }
}
outcomes.push(failure);
await accept("meanwhile");
await sleep(LONG_MS);
await accept("later");
for (const handle of handles) closeSync(handle);
await accept("after");
process.stdout.write(JSON.stringify(outcomes));
process.exit();
