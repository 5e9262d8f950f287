import "../check-node.js";
import { createServer } from "node:http";
import { Pool } from "pg";
import { createReceiver } from "pigeonhole";
import { createPostgresStore } from "pigeonhole/postgres";
import * as z from "zod";

// For an app that has a job engine in PostgreSQL, here graphile-worker: each event becomes one of its jobs. The job and
// the mark that the event is done are one transaction, so that no event becomes two jobs or none.
// DATABASE_URL=postgres://… WEBHOOK_SECRET=whsec_… npx tsx examples/hand-over/receiver.ts

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] });

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: createPostgresStore({ pool }),
  schemas: { "email.bounced": z.object({ recipient: z.email() }) },
});

receiver.on("email.bounced", (event, { commit }) =>
  commit(({ client }) =>
    client.query("SELECT graphile_worker.add_job('handle_bounce', payload => $1::json, job_key => $2)", [
      JSON.stringify({ address: event.data.recipient, at: event.createdAt }),
      event.id,
    ]),
  ),
);

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => {
  void receiver
    .stop()
    .then(() => pool.end())
    .then(() => process.exit(0));
});
