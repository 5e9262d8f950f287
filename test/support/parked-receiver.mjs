import Database from "better-sqlite3";
import { pino } from "pino";
import { createReceiver } from "pigeonhole";
import * as z from "zod";

// A receiver that takes no deliveries: what an app makes of the parked events that its version before left. Each of
// `types` has a handler, and a schema in which a subject is text. Its log goes to standard output.

const { file, secret, types = [], stepMs = 0 } = JSON.parse(process.argv[2] ?? "{}");

/** No unique constraint: a second effect of the same event must show. */
const db = new Database(file, { timeout: 5_000 });
db.pragma("journal_mode = WAL");
db.exec("CREATE TABLE IF NOT EXISTS effect (event_id TEXT, handler TEXT, attempt INTEGER, pid INTEGER)");
db.close();

const receiver = createReceiver({
  secrets: secret,
  store: file,
  logger: pino({ base: null }),
  telemetry: false,
  schemas: Object.fromEntries(types.map((type) => [type, z.object({ subject: z.string().optional() })])),
});
for (const type of types) {
  receiver.on(type, async ({ id }, ctx) => {
    await new Promise((resolve) => setTimeout(resolve, stepMs));
    return ctx.commit((tx) => {
      tx.db.prepare("INSERT INTO effect VALUES (?, ?, ?, ?)").run(id, type, ctx.attempt, process.pid);
    });
  });
}
receiver.onUnhandled(() => undefined);
await receiver.start();
process.stdout.write(`${JSON.stringify({ msg: "ready" })}\n`);
const keepAlive = setInterval(() => undefined, 60_000);
process.on("SIGTERM", () => void receiver.stop().finally(() => clearInterval(keepAlive)));
