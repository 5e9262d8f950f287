import { setTimeout as sleep } from "node:timers/promises";
import { RetryAfter, createReceiver } from "pigeonhole";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { pino } from "pino";

// A receiver in a process of its own that delivers an event to itself. It prints what its handler runs on, and that the
// handler is held.

/** @type {{ store: string; event: string; isBusy: boolean }} */
const { store, event, isBusy } = JSON.parse(process.argv[2] ?? "{}");

const receiver = createReceiver({
  secrets: TEST_SECRET,
  store,
  logger: pino({ level: "silent" }),
  telemetry: false,
});
receiver.on(
  "email.sent",
  ({ id }) => {
    console.log(id);
    if (isBusy) throw new RetryAfter("busy", 3_600_000, { holds: "handler" });
  },
  { name: "crm" },
);
await receiver.start();
const headers = signDelivery({ body: event, secret: TEST_SECRET });
await receiver.fetch(new Request("http://localhost/", { method: "POST", body: event, headers }));
while ((await receiver.stats()).waitsFor["crm"] !== "retry_after") await sleep(5);
console.log("held");
// Nothing of the receiver keeps a process alive.
setInterval(() => undefined, 60_000);
