import { createServer } from "node:http";
import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { pino } from "pino";

// An app as a user starts it: its secret, port and file come by environment. APP_FILE makes it ignore DATABASE_FILE,
// and APP_POSTGRES has it prefer DATABASE_URL.
const { WEBHOOK_SECRET: secret = "", APP_PORT, PORT, DATABASE_FILE, DATABASE_URL } = process.env;
const { APP_CONTACT, APP_FILE, APP_POSTGRES, APP_WITHOUT_AUDIT } = process.env;
const { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: apiKey } = process.env;
const postgres = APP_POSTGRES && DATABASE_URL && createPostgresStore({ connectionString: DATABASE_URL });
const store = APP_FILE ?? (postgres || DATABASE_FILE || "pigeonhole.db");
const receiver = createReceiver({
  secrets: secret,
  store,
  logger: pino({ level: "silent" }),
  telemetry: false,
  ...(apiKey && { api: { baseUrl, apiKey } }),
});
receiver.on(
  "email.bounced",
  () => {
    throw new Error("the address book is closed");
  },
  { name: "bounces", retry: { maxAttempts: 1 } },
);
receiver.on(
  "email.complained",
  () => {
    throw new Error("try again later");
  },
  { name: "complaints" },
);
receiver.on(
  "form.submitted",
  (_, ctx) => {
    ctx.contactEvents.record({ name: "form.filled", email: APP_CONTACT ?? "ada@b.example" });
  },
  {
    name: "forms",
  },
);
if (APP_WITHOUT_AUDIT === undefined) receiver.on("*", () => {}, { name: "audit" });
await receiver.start();
createServer(receiver.listener({ path: "/webhooks", next: (_, response) => response.end("healthy") })).listen(
  Number(APP_PORT ?? PORT ?? 0),
);
console.log("listening");
