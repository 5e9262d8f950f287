import "./check-node.js";
import { createServer } from "node:http";
import express, { type ErrorRequestHandler } from "express";
import { createReceiver } from "pigeonhole";

// Beside what an app has already: a JSON parser for everything, a login check, an error handler. The receiver is one
// line above them. WEBHOOK_SECRET=whsec_… npx tsx examples/existing-app.ts

const orders: { id: number; paid: boolean }[] = [];

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "",
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
});

receiver.on("suppression.added", (event, ctx) => {
  ctx.log.info({ createdAt: event.createdAt }, "suppressed");
});

const app = express();

// Above every body parser, because the signature covers the raw bytes; above the login check, because the signature is
// the check.
app.post("/webhooks/mail", receiver.middleware());

app.use(express.json());
app.use((req, res, next) => {
  if (req.get("authorization") === "Bearer letmein") next();
  else res.status(401).json({ error: "Log in first." });
});
app.post("/orders", (req, res) => {
  const { paid } = req.body as { paid?: unknown };
  const order = { id: orders.length + 1, paid: paid === true };
  orders.push(order);
  res.status(201).json(order);
});
app.get("/inbox", async (_, res) => void res.json(await receiver.stats()));
const answerError: ErrorRequestHandler = (error: Error, _req, res, _next) => {
  res.status(400).json({ error: error.name });
};
app.use(answerError);

await receiver.start();
const server = createServer(app).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

async function shutDown(): Promise<void> {
  server.close();
  await receiver.stop();
  server.closeAllConnections();
  process.exit(0);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void shutDown());
