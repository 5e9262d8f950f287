import { createServer } from "node:http";
import { runMigrations } from "graphile-worker";
import { Pool } from "pg";
import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import * as z from "zod";

// Each bounce becomes a job of graphile-worker, which worker.ts does.
//
// Exactly once: the hand-over. The job and the mark that the event is done are one transaction of one database, so that
// no event becomes two jobs or none, whenever the receiver dies.
//
// npm install graphile-worker pg
// DATABASE_URL=postgres://… WEBHOOK_SECRET=whsec_… npx tsx examples/hand-over/graphile-worker/receiver.ts

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] });
await runMigrations({ pgPool: pool }); // makes add_job

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: createPostgresStore({ pool }),
  schemas: { "email.bounced": z.object({ recipient: z.email() }) },
});

receiver.on("email.bounced", (event, ctx) =>
  ctx.commit(({ client }) => {
    const job = { eventId: event.id, address: event.data.recipient };
    return client.query("SELECT graphile_worker.add_job('bounce', $1::json)", [JSON.stringify(job)]);
  }),
);

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

async function shutDown(): Promise<void> {
  await receiver.stop();
  await pool.end();
  process.exit(0);
}
process.once("SIGTERM", () => void shutDown());
