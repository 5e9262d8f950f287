import { createServer } from "node:http";
import { Pool } from "pg";
import { isPigeonholeError } from "pigeonhole";
import { pino } from "pino";
import { createApp } from "./app.js";
import { apiOf, loadEnv } from "./env.js";
import { stopOnSignal } from "./stop-on-signal.js";
import { createStore } from "./store.js";
import { createMailReceiver } from "./webhooks/receiver.js";

const env = loadEnv();
const { WEBHOOK_SECRET, WEBHOOK_SECRET_OLD, PORT, HOST, DATABASE_URL, LOG_LEVEL } = env;
const log = pino({ level: LOG_LEVEL });
const secrets = [WEBHOOK_SECRET, WEBHOOK_SECRET_OLD].filter((secret) => secret !== undefined);
const pool = new Pool({ connectionString: DATABASE_URL });
// A connection that the server closes would end the process otherwise.
pool.on("error", ({ message }) => log.warn({ message }, "connection_lost"));
const receiver = createMailReceiver({ secrets, store: createStore(pool), log, api: apiOf(env) });
await receiver.start().catch((error: unknown) => {
  if (!isPigeonholeError(error, "store_unreachable")) throw error;
  log.fatal(`${error.message} Start the PostgreSQL of DATABASE_URL, as README.md says.`);
  process.exit(1);
});

const server = createServer(createApp({ receiver, pool }));
stopOnSignal({ server, receiver, log });
server.listen(PORT, HOST, () => log.info({ address: server.address() }, "listening"));
