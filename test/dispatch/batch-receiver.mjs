import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, createSqliteStore } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { pino } from "pino";

// A receiver in a process of its own that takes events in batches, and dies in the transaction of each that has a
// certain one. It prints the ids of each batch, and ends once nothing is left to do.

/** @type {{ place: { file: string } | { url: string; schema: string }; events: { id: string }[]; deadly: string }} */
const { place, events, deadly } = JSON.parse(process.argv[2] ?? "{}");

const CREATE = "CREATE TABLE IF NOT EXISTS effect (event TEXT NOT NULL)";
const store =
  "file" in place
    ? createSqliteStore({ file: place.file, setup: ({ db }) => db.exec(CREATE) })
    : createPostgresStore({
        connectionString: place.url,
        schema: place.schema,
        setup: ({ client }) => client.query(`CREATE TABLE IF NOT EXISTS public.effect (event TEXT NOT NULL)`),
      });
const receiver = createReceiver({ secrets: TEST_SECRET, store, logger: pino({ level: "silent" }), telemetry: false });
receiver.onBatch(
  "email.sent",
  (batch, ctx) => {
    writeSync(1, `${JSON.stringify(batch.map(({ id }) => id))}\n`);
    const die = () => batch.some(({ id }) => id === deadly) && process.kill(process.pid, "SIGKILL");
    return ctx.commit(({ db, client }) => {
      if (db === undefined) return writeOnServer(client, batch).then(die);
      for (const { id } of batch) db.prepare("INSERT INTO effect VALUES (?)").run(id);
      die();
    });
  },
  // The first process gets a full batch, however long its events take to come.
  events.length > 0 ? { max: events.length, wait: "30s" } : { max: 100, wait: "200ms" },
);

async function writeOnServer(client, batch) {
  for (const { id } of batch) await client.query("INSERT INTO public.effect VALUES ($1)", [id]);
}

await receiver.start();
for (const event of events) {
  const body = JSON.stringify(event);
  const headers = signDelivery({ body, secret: TEST_SECRET });
  await receiver.fetch(new Request("http://localhost/", { method: "POST", body, headers }));
}
for (let left = 1; left > 0;) {
  await sleep(20);
  const { pending, running, retrying } = await receiver.stats();
  left = pending + running + retrying;
}
await receiver.stop();
process.exit();
