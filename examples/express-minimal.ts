import "./check-node.js";
import { createServer } from "node:http";
import express from "express";
import { createReceiver } from "pigeonhole";

// A complete receiver. WEBHOOK_SECRET=whsec_… npx tsx examples/express-minimal.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});

receiver.on("email.bounced", (event, ctx) => {
  ctx.log.info({ createdAt: event.createdAt }, "bounced");
});

const app = express();
app.post("/webhooks/mail", receiver.middleware());

await receiver.start();
createServer(app).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void receiver.stop().then(() => process.exit(0)));
