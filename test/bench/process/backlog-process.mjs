// Plain JavaScript, so that no loader counts towards the memory that is measured.
import { readFileSync } from "node:fs";
import { createReceiver } from "pigeonhole";

const [, , place, secret, eventType, handlerName, waitMs] = process.argv;

/** Largest resident memory so far, in bytes, of this program alone (getrusage would count what ran before exec). */
function readPeakMemory() {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  return line ? Number(line[1]) * 1024 : process.resourceUsage().maxRSS * 1024;
}

const silent = { debug() {}, info() {}, warn() {}, error: console.error, child: () => silent };
let handled = 0;
let firstMs = null;

const isFile = !place.startsWith("postgres:");
const { createPostgresStore } = isFile ? {} : await import("pigeonhole/postgres");

const startedAt = performance.now();
const store = isFile ? place : createPostgresStore({ connectionString: place });
const receiver = createReceiver({ secrets: secret, store, logger: silent });
receiver.on(
  eventType,
  () => {
    firstMs ??= performance.now() - startedAt;
    handled += 1;
  },
  { name: handlerName },
);
await receiver.start();
const startMs = performance.now() - startedAt;

setTimeout(() => {
  process.send({ startMs, firstMs, handled, peakBytes: readPeakMemory() }, () => process.exit());
}, Number(waitMs));
