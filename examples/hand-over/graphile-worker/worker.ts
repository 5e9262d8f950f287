import { run } from "graphile-worker";
import { Pool } from "pg";
import * as z from "zod";

// Does the jobs that receiver.ts hands over.
//
// At least once: the work. graphile-worker marks a job as done in a transaction of its own, and gives the job of a
// worker that died to another one four hours later. The event's id as primary key makes one row of two runs.
//
// DATABASE_URL=postgres://… npx tsx examples/hand-over/graphile-worker/worker.ts

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] });
await pool.query("CREATE TABLE IF NOT EXISTS bounce (event text PRIMARY KEY, address text)");

const Bounce = z.object({ eventId: z.string(), address: z.string() });

const runner = await run({
  pgPool: pool,
  concurrency: 5,
  taskList: {
    async bounce(payload, { query }) {
      const { eventId, address } = Bounce.parse(payload);
      await query("INSERT INTO bounce VALUES ($1, $2) ON CONFLICT DO NOTHING", [eventId, address]);
    },
  },
});
await runner.promise; // ends with SIGTERM, when its jobs have ended
await pool.end();
