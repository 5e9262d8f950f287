import "../check-node.js";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, createSqliteStore } from "pigeonhole";
import { pino } from "pino";
import * as z from "zod";

// The receiver that watch.ts kills. Each bounce is to leave one row here and one contact event at the service.

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: createSqliteStore({
    file: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
    // No UNIQUE, so that a second effect would be seen.
    setup: ({ db }) => db.exec("CREATE TABLE IF NOT EXISTS bounce (event TEXT, address TEXT)"),
  }),
  api: { apiKey: process.env["PIGEONHOLE_API_KEY"] ?? "", baseUrl: process.env["PIGEONHOLE_BASE_URL"] ?? "" },
  schemas: { "email.bounced": z.object({ recipient: z.email() }) },
  logger: pino({ level: "silent" }), // leave this out to see the log
});

receiver.on("email.bounced", async (event, ctx) => {
  const { recipient } = event.data;
  await ctx.step("lookup", () => sleep(50)); // where the world is asked; a retry does not ask again
  ctx.contactEvents.record({ name: "address.bounced", email: recipient, properties: { eventId: event.id } });
  // The row, the contact event and the mark that this event is done: all of them or none.
  return ctx.commit(({ db }) => db.prepare("INSERT INTO bounce VALUES (?, ?)").run(event.id, recipient));
});

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log("listening");
});
process.once("SIGTERM", () => void receiver.stop().then(() => process.exit(0)));
