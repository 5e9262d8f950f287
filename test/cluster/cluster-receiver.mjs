import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { pino } from "pino";

// One of several receivers on one database. Its handler has an effect in a table of its own, and records a contact
// event; it fails the first time where the event says so.

/**
 * @type {{
 *   databaseUrl: string;
 *   schema: string;
 *   effects: string;
 *   port: number;
 *   secret: string;
 *   apiUrl: string;
 *   apiKey: string;
 * }}
 */
const config = JSON.parse(process.argv[2] ?? "{}");
const { databaseUrl, schema, effects } = config;

const receiver = createReceiver({
  secrets: config.secret,
  store: createPostgresStore({ connectionString: databaseUrl, schema }),
  retry: { initialMs: 100 },
  concurrency: 4,
  logger: pino({ level: "warn" }),
  telemetry: false,
  api: { apiKey: config.apiKey, baseUrl: config.apiUrl, maxRetries: 0, eventsPerMinute: 600_000 },
});
receiver.on("email.sent", async (event, ctx) => {
  const data = /** @type {{ waitMs?: number; failFirst?: boolean }} */ (event.data);
  await sleep(data.waitMs ?? 0);
  if (data.failFirst === true && ctx.attempt === 1) throw new Error("the first time");
  ctx.contactEvents.record({ name: "seen", email: "ada@customer.example.com", properties: { of: event.id } });
  await ctx.commit(({ client }) =>
    client.query(`INSERT INTO ${effects} (event, pid) VALUES ($1, $2)`, [event.id, process.pid]),
  );
});

/** The database may be starting. */
for (;;) {
  try {
    await receiver.start();
    break;
  } catch {
    await sleep(100);
  }
}
const server = createServer(receiver.listener({ path: "/hooks", next: (_request, response) => response.end() }));
server.listen(config.port, "127.0.0.1", () => process.stdout.write('{"msg":"ready"}\n'));
