import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { createReceiver } from "pigeonhole";

// Bare node:http: the receiver answers its path, and your listener gets every other request untouched.
// WEBHOOK_SECRET=whsec_… npx tsx examples/hosts/node-http.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});
receiver.on("email.*", (event, ctx) => ctx.log.info({ createdAt: event.createdAt }, "mail"), { name: "audit" });

const listener = receiver.listener({
  path: "/webhooks/mail",
  next(req, res) {
    if (req.url !== "/orders") return void res.writeHead(404).end();
    json(req).then(
      (order) => res.setHeader("content-type", "application/json").end(JSON.stringify({ order })),
      () => res.writeHead(400).end(),
    );
  },
});

await receiver.start();
const server = createServer(listener).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

async function shutDown(): Promise<void> {
  server.close();
  await receiver.stop();
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void shutDown());
