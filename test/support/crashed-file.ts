import { expect } from "vitest";
import { type TestEvent, bytesOf, captureLog, storeIn, tempFile } from "./receiver.js";

const PAST = Date.parse("2026-01-01T09:00:00Z");

/** A file in which so many processes have died while the handler ran on the event. */
export async function makeCrashedFile(event: TestEvent, handler: string, deaths: number): Promise<string> {
  const file = tempFile();
  const { logger } = captureLog();
  const leaseUntil = PAST + 60_000;
  for (let death = 0; death < deaths; death += 1) {
    const store = storeIn(file);
    await store.open({ logger });
    await store.recover(PAST);
    if (death === 0) {
      const { id, type } = event;
      const times = { receivedAt: PAST, signedAt: PAST };
      const work = [{ handler, leaseUntil }];
      await store.accept({ id, type, test: false, ...times, body: bytesOf(event), work, parked: undefined });
    } else {
      const limits = { limit: 1, maxBytes: 1_000, crashedLimit: 1, allowCrashLooping: true };
      const { work } = await store.lease({ handler, now: PAST, leaseUntil, ...limits });
      expect(work).toMatchObject([{ crashes: death }]);
    }
    // Its leases stay, as those of a dead process do.
    await store.close();
  }
  return file;
}
