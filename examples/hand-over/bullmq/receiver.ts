import { createServer } from "node:http";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { createReceiver } from "pigeonhole";
import * as z from "zod";

// Each bounce becomes a job of BullMQ, which worker.ts does.
//
// At least once: `queue.add`. A receiver that dies after it, and before the event is marked as done, calls it again.
// One job of each event: the id of the job is the same in every run, and BullMQ ignores an id that it has already. It
// has the ids of the jobs that it keeps: so keep those that are completed for longer than a handler is tried.
// A job is as safe as Redis makes it: it needs `appendfsync always` and `maxmemory-policy noeviction`.
//
// npm install bullmq ioredis; REDIS_URL=redis://… WEBHOOK_SECRET=whsec_… npx tsx examples/hand-over/bullmq/receiver.ts

const DAY_SECONDS = 24 * 60 * 60;

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
  schemas: { "email.bounced": z.object({ recipient: z.email() }) },
});

// While Redis is away, a handler fails at once and is tried again, for about a day.
const connection = new Redis(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", { maxRetriesPerRequest: 1 });
const queue = new Queue("bounces", { connection, skipWaitingForReady: true });
queue.on("error", (error) => console.error("Redis:", error.message));

receiver.on("email.bounced", async (event, ctx) => {
  const job = { eventId: event.id, address: event.data.recipient };
  await queue.add("bounce", job, {
    jobId: ctx.idempotencyKey("job"),
    attempts: 10,
    backoff: { type: "exponential", delay: 1_000 },
    removeOnComplete: { age: 7 * DAY_SECONDS },
  });
});

await receiver.start();
createServer(receiver.middleware()).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");

async function shutDown(): Promise<void> {
  await receiver.stop();
  await queue.close();
  await connection.quit();
  process.exit(0);
}
process.once("SIGTERM", () => void shutDown());
