import { createServer } from "node:http";
import { createReceiver } from "pigeonhole";
import { pino } from "pino";

// A receiver in a process of its own whose handler records two contact events per delivery.

/** @type {{ file: string, port: number, secret: string, baseUrl: string }} */
const config = JSON.parse(process.argv[2] ?? "{}");

const receiver = createReceiver({
  secrets: config.secret,
  store: config.file,
  retry: { initialMs: 20 },
  logger: pino({ level: "error" }, pino.destination({ dest: 2, sync: true })),
  telemetry: false,
  api: { apiKey: "svc_test_crash", baseUrl: config.baseUrl, maxRetries: 0, eventsPerMinute: 600_000 },
});
receiver.on("*", (event, ctx) => {
  const email = "ada@example.com";
  ctx.contactEvents.record({ name: "first.seen", email, properties: { id: event.id } });
  ctx.contactEvents.record({ name: "second.seen", email, properties: { id: event.id } });
});
await receiver.start();

const server = createServer(
  receiver.listener({
    path: "/hooks",
    next: (_request, response) => {
      void receiver.stats().then((stats) => response.end(JSON.stringify(stats)));
    },
  }),
);
server.listen(config.port, "127.0.0.1", () => process.stdout.write("ready\n"));
