import { describe, expect, test } from "vitest";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { type Reachable, decorateStore, makeEvent, post, untilWork } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";
import { errorOf } from "../support/error-of.js";
import type { Retention } from "#pigeonhole/receiver/options.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function start(retention?: Partial<Retention>) {
  const clock = fakeClock();
  const receiver = await startReceiver({ clock, ...(retention && { retention }) }, { "email.opened": () => undefined });
  // The round of the start, so that the next comes in an hour.
  await clock.advance(100);
  return {
    clock,
    receiver,
    deliver: async (event = makeEvent()) => (await post(receiver, event, { at: clock.now() })).outcome,
    /**
     * Moves the wall clock there, which a delivery confirms; within the last hour of the way a round was begun and
     * ended.
     */
    pruneAt: async (time: number) => {
      clock.set(time - HOUR - 1_000);
      await confirmClock(receiver, clock);
      await clock.advance(HOUR + 1_000);
    },
    bodyOf: async (id: string) => (await receiver.inbox.get(id))?.body,
  };
}

/** A genuine delivery of an event that has just happened. */
async function confirmClock(receiver: Reachable, clock: FakeClock): Promise<void> {
  const event = makeEvent({ type: "email.opened", createdAt: new Date(clock.now()).toISOString() });
  await post(receiver, event, { at: clock.now() });
}

describe("how long an id is kept", () => {
  test("an id and its body are kept for 90 days by default", async () => {
    const { clock, receiver, deliver, pruneAt, bodyOf } = await start();
    const event = makeEvent();
    const t0 = clock.now();
    expect(await deliver(event)).toBe("accepted");
    await pruneAt(t0 + 90 * DAY);
    expect(clock.now()).toBe(t0 + 90 * DAY);
    expect(await deliver(event)).toBe("duplicate");
    expect(await bodyOf(event.id)).toBeInstanceOf(Uint8Array);
    await pruneAt(t0 + 90 * DAY + 2 * HOUR);
    expect(await receiver.inbox.get(event.id)).toBeUndefined();
    expect(await deliver(event)).toBe("accepted");
  });
});

describe("how long a body is kept", () => {
  test.each([2 * DAY, 0])(
    "a body with a limit of %i ms is deleted sooner, and its id, its digest and the reason for a refused retry stay",
    async (bodiesMs) => {
      const { clock, receiver, deliver, pruneAt, bodyOf } = await start({ idsMs: 7 * DAY, bodiesMs });
      const event = makeEvent({ type: "email.opened" });
      const t0 = clock.now();
      await deliver(event);
      await untilWork(receiver, event.id, { state: "done" }, "email.opened");
      if (bodiesMs > 0) await pruneAt(t0 + bodiesMs);
      expect(await bodyOf(event.id)).toBeInstanceOf(Uint8Array);
      await pruneAt(t0 + bodiesMs + 2 * HOUR);
      expect(await bodyOf(event.id)).toBeNull();
      expect(await receiver.inbox.get(event.id)).toMatchObject({ state: "done", handlers: [{ state: "done" }] });
      expect(await deliver(event)).toBe("duplicate");
      expect(await deliver({ ...event, data: { other: 1 } })).toBe("duplicate");
      expect(await bodyOf(event.id)).toBeNull();
      expect(await errorOf(() => receiver.inbox.retry(event.id))).toMatchObject({ code: "body_dropped" });
      await pruneAt(t0 + 7 * DAY);
      expect(await deliver(event)).toBe("duplicate");
      await pruneAt(t0 + 7 * DAY + 2 * HOUR);
      expect(await receiver.inbox.get(event.id)).toBeUndefined();
    },
  );
});

test("a round removes 100 rows at a time, with pauses between, so that deliveries do not wait for it", async () => {
  const clock = fakeClock();
  const batches: number[] = [];
  const prune = ({ batch }: { batch: number }) => Promise.resolve(batches.push(batch) < 4 ? batch : 0);
  await startReceiver({ clock, store: decorateStore(() => ({ prune })) });
  for (let round = 1; round <= 4; round += 1) {
    await clock.advance(49);
    expect(batches).toHaveLength(round - 1);
    await clock.advance(1);
    expect(batches).toEqual(Array.from({ length: round }, () => 100));
  }
  await clock.advance(HOUR - 1);
  expect(batches).toHaveLength(4);
  await clock.advance(1);
  expect(batches).toHaveLength(5);
});

test("a receiver that only accepts prunes while it is drained, and at most once an hour", async () => {
  const clock = fakeClock();
  const prunes: number[] = [];
  const store = decorateStore((real) => ({
    prune(limits) {
      prunes.push(limits.now);
      return real.prune(limits);
    },
  }));
  const receiver = await startReceiver({ clock, store, role: "accept" }, { "email.sent": () => undefined });
  const event = await postEvent(receiver);
  expect(await receiver.drain()).toMatchObject({ done: 1, drained: true });
  await receiver.drain();
  expect(prunes).toHaveLength(1);
  clock.set(clock.now() + 91 * DAY);
  await confirmClock(receiver, clock);
  await clock.advance(HOUR);
  const drained = receiver.drain();
  await clock.advance(1_000);
  expect(await drained).toMatchObject({ drained: true });
  expect(await receiver.inbox.get(event.id)).toBeUndefined();
});
