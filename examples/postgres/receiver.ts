import "../check-node.js";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { pino } from "pino";
import * as z from "zod";

// The receiver of which watch.ts starts two and kills one after the other. All of them work on one database.

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] });
// No UNIQUE, so that a second effect would be seen.
await pool.query("CREATE TABLE IF NOT EXISTS bounce (event text, address text, process integer)");

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: createPostgresStore({ pool }),
  api: { apiKey: process.env["PIGEONHOLE_API_KEY"] ?? "", baseUrl: process.env["PIGEONHOLE_BASE_URL"] ?? "" },
  schemas: { "email.bounced": z.object({ recipient: z.email() }) },
  logger: pino({ level: "silent" }), // leave this out to see the log
});

receiver.on("email.bounced", async (event, ctx) => {
  const { recipient } = event.data;
  await ctx.step("lookup", () => sleep(50)); // where the world is asked; a retry does not ask again
  ctx.contactEvents.record({ name: "address.bounced", email: recipient, properties: { eventId: event.id } });
  // The row, the contact event and the mark that this event is done: all of them or none.
  return ctx.commit(({ client }) =>
    client.query("INSERT INTO bounce VALUES ($1, $2, $3)", [event.id, recipient, process.pid]),
  );
});

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log("listening");
});
process.once("SIGTERM", () => {
  void receiver
    .stop()
    .then(() => pool.end())
    .then(() => process.exit(0));
});
