import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { pino } from "pino";
import { encodeMark } from "../disk/log.ts";
import { registerHandlers } from "./handlers.ts";

// A receiver in a process of its own, under the shim. It reports by lines on standard output.

/** @type {import("./start.js").TortureConfig} */
const config = JSON.parse(process.argv[2] ?? "{}");
const { createReceiver, createSqliteStore } = await import(pathToFileURL(config.entry).href);

/** A mistake that an application's own store would make: the done mark follows the user's transaction. */
function markOutside(store) {
  const db = new Database(config.file, { timeout: 5_000 });
  db.pragma("synchronous = FULL");
  return new Proxy(store, {
    get(target, name) {
      if (name !== "commit") return target[name];
      return async (settlement, fn) => {
        db.transaction(() => fn({ db })).immediate();
        if ((await target.settle(settlement)) === "lost") throw new Error("lost");
      };
    },
  });
}

const inner = createSqliteStore({ file: config.file });
const store = config.markOutside ? markOutside(inner) : inner;
const randomKeys = (url, init) =>
  fetch(url, { ...init, headers: { ...init.headers, "idempotency-key": crypto.randomUUID() } });
const receiver = createReceiver({
  secrets: config.secret,
  store,
  retry: { initialMs: 5, maxMs: 250 },
  logger: pino({ level: "warn" }, pino.destination({ dest: 1, sync: true })),
  telemetry: false,
  api: {
    apiKey: "svc_test_torture",
    baseUrl: config.apiUrl,
    maxRetries: 0,
    eventsPerMinute: 600_000,
    ...(config.randomKeys && { fetch: randomKeys }),
  },
});
registerHandlers(receiver);
await receiver.start();

/** Removes what is done and older than that, as retention does after weeks. */
async function prune(olderMs) {
  for (;;) {
    const now = Date.now();
    const [idsBefore, bodiesBefore] = [now - olderMs, now - olderMs / 2];
    await store.prune({ now, idsBefore, bodiesBefore, sentBefore: 0, batch: 7 }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 15).unref());
  }
}
if (config.pruneOlderMs !== undefined) void prune(config.pruneOlderMs);

const receive = receiver.middleware();
const server = createServer((request, response) => {
  const end = response.end.bind(response);
  // Before the answer leaves: whatever is not on the disk now was answered too early.
  response.end = function noteAndEnd(...args) {
    if (config.log !== undefined && request.method === "POST" && response.statusCode === 200) {
      appendFileSync(config.log, encodeMark({ what: "answered", eventId: String(request.headers["x-event-id"]) }));
    }
    return end(...args);
  };
  receive(request, response);
});
server.listen(config.port, "127.0.0.1", () => process.stdout.write('{"msg":"ready"}\n'));

async function stop() {
  await receiver.stop({ timeoutMs: 1_000 });
  server.close();
  process.exit();
}
process.once("SIGTERM", () => void stop());
