import { createServer } from "node:http";
import { pino } from "pino";
import { createApp } from "./app.js";
import { apiOf, loadEnv } from "./env.js";
import { stopOnSignal } from "./stop-on-signal.js";
import { openTables } from "./tables.js";
import { createMailReceiver } from "./webhooks/receiver.js";

const env = loadEnv();
const { WEBHOOK_SECRET, WEBHOOK_SECRET_OLD, PORT, HOST, DATABASE_FILE, LOG_LEVEL } = env;
const log = pino({ level: LOG_LEVEL });
const secrets = [WEBHOOK_SECRET, WEBHOOK_SECRET_OLD].filter((secret) => secret !== undefined);
const receiver = createMailReceiver({ secrets, file: DATABASE_FILE, log, api: apiOf(env) });
const tables = openTables(DATABASE_FILE);
await receiver.start();

const server = createServer(createApp({ receiver, tables }));
stopOnSignal({ server, receiver, log, close: () => tables.close() });
server.listen(PORT, HOST, () => log.info({ address: server.address() }, "listening"));
