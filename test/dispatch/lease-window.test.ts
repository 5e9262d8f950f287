import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import type { RegisteredHandler } from "#pigeonhole/dispatch/handler.js";
import { LeaseWindow } from "#pigeonhole/dispatch/lease-window.js";
import type { AnyEvent } from "#pigeonhole/protocol/event.js";
import type { LeasedWork } from "#pigeonhole/store/work.js";
import { captureLog } from "../support/receiver.js";

test("a process whose runs take long leases nothing more from a shared store, before the first has ended", async () => {
  const clock = fakeClock();
  const handler = { name: "slow" } as RegisteredHandler;
  const window = new LeaseWindow(handler, { places: 16, isShared: true, clock, logger: captureLog().logger });
  window.isBehind = false;
  const lease = (seq: number): void => {
    const work = { seq, handler: "slow", token: 1, eventId: `e${seq}`, attempt: 1, dueAt: 0, crashes: 0 };
    window.add({ ...work, body: Buffer.alloc(1) } as unknown as LeasedWork, {} as AnyEvent);
  };
  for (let seq = 0; seq < 17; seq += 1) lease(seq);
  for (const ready of window.waiting.slice(0, 16)) window.begin(ready);
  await clock.advance(10_000);
  expect(window.takeStale()).toHaveLength(1);
  expect(window.reserve()).toBe(false);
});
