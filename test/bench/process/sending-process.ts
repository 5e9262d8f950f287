import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, createSqliteStore } from "pigeonhole";
import { quietLogger } from "../contestants/quiet-logger.js";
import { SECRET } from "../sample-delivery.js";
import { serveCalls } from "./child-calls.js";
import { ownCpuMicros } from "./cpu-time.js";

/** What sending took. */
export interface SendingTimes {
  eventsPerSecond: number;
  /** CPU per event in microseconds, all threads of the sender. */
  cpu: number;
}

const PER_RECORD = 1_000;
/** Each look is a transaction of its own, so there are few. */
const POLL_MS = 25;
/** Events per minute that nobody reaches. */
const NO_LIMIT = 1_000_000_000;

/** Puts events into the outbox of a new file. */
async function fillOutbox({ file, count }: { file: string; count: number }): Promise<void> {
  const store = createSqliteStore({ file });
  await store.open({ logger: quietLogger });
  const now = Date.now();
  for (let first = 0; first < count; first += PER_RECORD) {
    const events = Array.from({ length: Math.min(PER_RECORD, count - first) }, (_, index) => ({
      key: `bench-${first + index}`,
      body: JSON.stringify({
        name: "email.received",
        email: `contact${first + index}@receiver.example`,
        properties: { position: first + index },
        occurredAt: new Date(now).toISOString(),
      }),
      occurredAt: now,
      isTimeGiven: true,
    }));
    await store.record(events, now);
  }
  await store.close();
}

const calls = {
  /** Sends `count` events, so many in a call. */
  async send(plan: { file: string; count: number; perCall: number; baseUrl: string }): Promise<SendingTimes> {
    await fillOutbox(plan);
    const store = createSqliteStore({ file: plan.file });
    const receiver = createReceiver({
      secrets: SECRET,
      store: { ...store, leaseSend: (request) => store.leaseSend({ ...request, limit: plan.perCall }) },
      logger: quietLogger,
      telemetry: false,
      api: { apiKey: "bench", baseUrl: plan.baseUrl, maxRetries: 0, eventsPerMinute: NO_LIMIT },
    });
    const cpuStart = ownCpuMicros();
    const start = performance.now();
    await receiver.start();
    // They are sent in the order of recording, so the newest is the last.
    for (;;) {
      const [newest] = (await receiver.contactEvents.list({ limit: 1 })).items;
      if (newest?.state === "done") break;
      if (newest?.state === "dead") throw new Error(`a contact event was refused: ${newest.message}`);
      await sleep(POLL_MS);
    }
    const seconds = (performance.now() - start) / 1000;
    const cpu = (ownCpuMicros() - cpuStart) / plan.count;
    await receiver.stop();
    return { eventsPerSecond: plan.count / seconds, cpu };
  },
};

export type SendingCalls = typeof calls;

serveCalls(calls);
