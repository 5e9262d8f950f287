import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { pino } from "pino";

// A receiver in a process of its own whose handler makes a thing in another system, once. It delivers the event to
// itself, and ends when it has the thing.

/** @type {{ store: { file: string } | { url: string; schema: string }; shop: string; event: string }} */
const { store, shop, event } = JSON.parse(process.argv[2] ?? "{}");

const receiver = createReceiver({
  secrets: TEST_SECRET,
  store: "file" in store ? store.file : createPostgresStore({ connectionString: store.url, schema: store.schema }),
  logger: pino({ level: "silent" }),
  telemetry: false,
});
receiver.on("email.sent", async (_, { once, signal }) => {
  const thing = await once("thing", {
    find: async () => (await (await fetch(shop, { signal })).json())[0],
    create: async () => (await fetch(shop, { method: "POST", signal })).json(),
  });
  process.stdout.write(JSON.stringify(thing), () => process.exit());
});
await receiver.start();
const headers = signDelivery({ body: event, secret: TEST_SECRET });
await receiver.fetch(new Request("http://localhost/", { method: "POST", body: event, headers }));
