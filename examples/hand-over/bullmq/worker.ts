import { Worker } from "bullmq";
import { Redis } from "ioredis";

// Does the jobs that receiver.ts hands over.
//
// At least once: the work. BullMQ gives the job of a worker that died to another one within a minute, so give the id of
// the job to whatever the work calls.
//
// REDIS_URL=redis://… npx tsx examples/hand-over/bullmq/worker.ts

const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", { maxRetriesPerRequest: null });

const worker = new Worker<{ eventId: string; address: string }>(
  "bounces",
  async ({ id, data }) => {
    // Here you call your CRM, with the id as idempotency key.
    console.log(`${id} of ${data.eventId} is done`);
  },
  { connection, concurrency: 10 },
);
worker.on("error", (error) => console.error("Redis:", error.message));

async function shutDown(): Promise<void> {
  await worker.close(); // when its jobs have ended
  await connection.quit();
}
process.once("SIGTERM", () => void shutDown());
