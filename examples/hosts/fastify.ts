import { createServer } from "node:http";
import Fastify from "fastify";
import { createReceiver } from "pigeonhole";

// Fastify 5: the receiver answers its path on the server below Fastify, whose parsers and hooks never see a delivery.
// npm install fastify; WEBHOOK_SECRET=whsec_… npx tsx examples/hosts/fastify.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});
receiver.on("email.*", (event, ctx) => ctx.log.info({ createdAt: event.createdAt }, "mail"), { name: "audit" });

const app = Fastify({
  serverFactory: (next) => createServer(receiver.listener({ path: "/webhooks/mail", next })),
});
app.post("/orders", (req) => ({ order: req.body }));
app.addHook("onReady", () => receiver.start());
app.addHook("onClose", () => receiver.stop());

await app.listen({ port: Number(process.env["PORT"] ?? 3000), host: "127.0.0.1" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void app.close());
