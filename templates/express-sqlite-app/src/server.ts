import { createServer } from "node:http";
import { pino } from "pino";
import { createApp } from "./app.js";
import { apiOf, loadEnv } from "./env.js";
import { stopOnSignal } from "./stop-on-signal.js";
import { createStore } from "./store.js";
import { createMailReceiver } from "./webhooks/receiver.js";

const env = loadEnv();
const { WEBHOOK_SECRET, WEBHOOK_SECRET_OLD, PORT, HOST, DATABASE_FILE, LOG_LEVEL } = env;
const log = pino({ level: LOG_LEVEL });
const secrets = [WEBHOOK_SECRET, WEBHOOK_SECRET_OLD].filter((secret) => secret !== undefined);
const store = createStore(DATABASE_FILE);
const receiver = createMailReceiver({ secrets, store, log, api: apiOf(env) });
await receiver.start();

const server = createServer(createApp({ receiver, store }));
stopOnSignal({ server, receiver, log });
server.listen(PORT, HOST, () => log.info({ address: server.address() }, "listening"));
