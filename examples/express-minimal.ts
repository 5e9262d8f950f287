import "./check-node.js";
import { createServer } from "node:http";
import express from "express";
import { createReceiver, createSqliteStore } from "pigeonhole";
import * as z from "zod";

// A complete receiver. WEBHOOK_SECRET=whsec_… npx tsx examples/express-minimal.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: createSqliteStore({
    file: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
    setup: ({ db }) => db.exec("CREATE TABLE IF NOT EXISTS bounced (address TEXT)"),
  }),
  schemas: {
    "email.bounced": z.object({ recipient: z.email() }),
  },
});

receiver.on("email.bounced", async (event, ctx) => {
  // The row and the mark that this event is done are written together, or not at all.
  await ctx.commit(({ db }) => db.prepare("INSERT INTO bounced VALUES (?)").run(event.data.recipient));
});

const app = express();
app.post("/webhooks/mail", receiver.middleware());

await receiver.start();
createServer(app).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void receiver.stop().then(() => process.exit(0)));
