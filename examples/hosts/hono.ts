import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { logger } from "hono/logger";
import { createReceiver } from "pigeonhole";

// Hono 4, or any other runtime of the Fetch standard with Node's modules.
// npm install hono @hono/node-server; WEBHOOK_SECRET=whsec_… npx tsx examples/hosts/hono.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});

receiver.on("email.*", (event, ctx) => ctx.log.info({ createdAt: event.createdAt }, "mail"), { name: "audit" });

const app = new Hono();
app.use(logger());
app.post("/webhooks/mail", (c) => receiver.fetch(c.req.raw));
app.post("/orders", async (c) => c.json({ order: await c.req.json() }));

await receiver.start();
const server = serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000), hostname: "127.0.0.1" });

async function shutDown(): Promise<void> {
  server.close();
  await receiver.stop();
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void shutDown());
