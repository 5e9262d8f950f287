import { createServer } from "node:http";
import { bodyParser } from "@koa/bodyparser";
import Koa from "koa";
import { createReceiver } from "pigeonhole";

// Koa 3: the receiver answers its path on the server below Koa, whose parsers never see a delivery.
// npm install koa @koa/bodyparser; WEBHOOK_SECRET=whsec_… npx tsx examples/hosts/koa.ts

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});
receiver.on("email.*", (event, ctx) => ctx.log.info({ createdAt: event.createdAt }, "mail"), { name: "audit" });

const app = new Koa();
app.use(bodyParser());
app.use((ctx) => {
  if (ctx.path === "/orders") ctx.body = { order: ctx.request.body };
});

const listener = receiver.listener({ path: "/webhooks/mail", next: app.callback() });

await receiver.start();
const server = createServer(listener).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

async function shutDown(): Promise<void> {
  server.close();
  await receiver.stop();
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void shutDown());
