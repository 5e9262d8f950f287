import { createReceiver } from "pigeonhole";
import { pino } from "pino";

// A receiver in a process of its own that records the contact events it is started with, and sends them.

/** @type {{ file: string, secret: string, baseUrl: string, records: { name: string, email: string }[] }} */
const config = JSON.parse(process.argv[2] ?? "{}");

const receiver = createReceiver({
  secrets: config.secret,
  store: config.file,
  api: { apiKey: "svc_test_outbox", baseUrl: config.baseUrl, maxRetries: 0 },
  logger: pino({ level: "info" }, pino.destination({ sync: true })),
  telemetry: false,
});
await receiver.start();
for (const event of config.records) await receiver.contactEvents.record(event);
process.stdout.write(`${JSON.stringify({ msg: "ready" })}\n`);

// Nothing listens, so only this keeps the process alive.
const idle = setInterval(() => undefined, 60_000);
process.once("SIGTERM", () => {
  clearInterval(idle);
  void receiver.stop({ timeoutMs: 5_000 });
});
