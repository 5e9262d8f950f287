import { randomBytes, randomUUID } from "node:crypto";
import type { Lease } from "#pigeonhole/store/work.js";
import { FAILS_ONE_IN, MIXED_HANDLERS } from "../contestants/mixed-load.js";
import { BODY_BYTES, EVENT_TYPE, HANDLER_NAME, MIXED_EVENT_TYPES } from "../sample-delivery.js";
import { serveCalls } from "./child-calls.js";
import { openStoreCommands } from "./store-commands.js";

/** Microseconds per event. */
export interface WriterTimes {
  user: number;
  system: number;
  wall: number;
}

/** A transaction accepts so many events, and settles those of the one before. */
export const EVENTS_PER_BATCH = 40;
/** Failed work is leased again once in so many batches. */
const RETRY_EVERY = 5;

const calls = {
  /**
   * Accepts `events` events in a new file; with `mixed` three handlers each, five types, one run in a hundred failing
   * once.
   */
  measure(plan: { file: string; events: number; mixed: boolean }): Promise<WriterTimes> {
    const store = openStoreCommands(plan.file, { fast: false });
    const handlers = plan.mixed ? MIXED_HANDLERS : [HANDLER_NAME];
    const types = plan.mixed ? MIXED_EVENT_TYPES : [EVENT_TYPE];
    const body = randomBytes(BODY_BYTES);
    const ids = Array.from({ length: plan.events }, () => randomUUID());
    let settled = 0;
    let waiting: Lease[] = [];
    const cpuStart = process.cpuUsage();
    const start = performance.now();
    for (let first = 0; first < plan.events; first += EVENTS_PER_BATCH) {
      const done: Lease[] = [];
      const failed: Lease[] = [];
      for (const lease of waiting) {
        settled += 1;
        (plan.mixed && settled % FAILS_ONE_IN === 0 ? failed : done).push(lease);
      }
      if (plan.mixed && (first / EVENTS_PER_BATCH) % RETRY_EVERY === 0) {
        for (const handler of handlers) done.push(...store.lease(handler, EVENTS_PER_BATCH));
      }
      const accept = ids.slice(first, first + EVENTS_PER_BATCH).map((id, index) => {
        return { id, type: types[index % types.length] ?? EVENT_TYPE, body, handlers, leased: true };
      });
      waiting = store.run({ accept, done, failed });
    }
    const { user, system } = process.cpuUsage(cpuStart);
    const wall = (performance.now() - start) * 1000;
    store.close();
    return Promise.resolve({
      user: user / plan.events,
      system: system / plan.events,
      wall: wall / plan.events,
    });
  },
};

export type WriterCalls = typeof calls;

serveCalls(calls);
