import "./check-node.js";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { logger } from "hono/logger";
import { createReceiver } from "pigeonhole";

// Any runtime of the Fetch standard with Node's modules: Hono here. WEBHOOK_SECRET=whsec_… npx tsx examples/hono.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});

receiver.on("email.*", (event, ctx) => ctx.log.info({ createdAt: event.createdAt }, "mail"), { name: "audit" });

const app = new Hono();
app.use(logger());
app.post("/webhooks/mail", (c) => receiver.fetch(c.req.raw));
app.get("/health", async (c) => c.json(await receiver.stats()));

await receiver.start();
const server = serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000), hostname: "127.0.0.1" });

async function shutDown(): Promise<void> {
  server.close();
  await receiver.stop();
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void shutDown());
