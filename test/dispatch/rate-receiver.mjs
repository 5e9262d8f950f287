import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { pino } from "pino";

// A receiver in a process of its own that delivers events to itself. It prints when each run begins.

/** @type {{ url: string; schema: string; events: object[]; rate: { runs: number; per: "1s" } }} */
const { url, schema, events, rate } = JSON.parse(process.argv[2] ?? "{}");

const receiver = createReceiver({
  secrets: TEST_SECRET,
  store: createPostgresStore({ connectionString: url, schema }),
  logger: pino({ level: "silent" }),
  telemetry: false,
});
receiver.on("email.sent", () => console.log(performance.timeOrigin + performance.now()), { rate });
await receiver.start();
for (const event of events) {
  const body = JSON.stringify(event);
  const headers = signDelivery({ body, secret: TEST_SECRET });
  await receiver.fetch(new Request("http://localhost/", { method: "POST", body, headers }));
}
// Nothing of the receiver keeps a process alive.
setInterval(() => undefined, 60_000);
