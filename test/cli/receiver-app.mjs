import { createServer } from "node:http";
import { createReceiver } from "pigeonhole";
import { pino } from "pino";

// An app as somebody would start it: its secret, port and file come by environment.
const { WEBHOOK_SECRET: secret = "", APP_PORT: port = "0", APP_FILE: store = ":memory:" } = process.env;
const receiver = createReceiver({ secrets: secret, store, logger: pino({ level: "silent" }), telemetry: false });
receiver.on(
  "email.bounced",
  () => {
    throw new Error("the address book is closed");
  },
  { name: "bounces", retry: { maxAttempts: 1 } },
);
receiver.on("*", () => {}, { name: "audit" });
await receiver.start();
createServer(receiver.listener({ path: "/webhooks", next: (_, response) => response.end("healthy") })).listen(
  Number(port),
);
console.log("listening");
