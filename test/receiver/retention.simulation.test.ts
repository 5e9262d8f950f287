import { describe, expect, test } from "vitest";
import { DoNotRetry } from "pigeonhole";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { type Reachable, decorateStore, makeEvent, post, untilWork } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";
import { errorOf } from "../support/error-of.js";
import type { Retention } from "#pigeonhole/receiver/options.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function start(retention?: Partial<Retention>) {
  const clock = fakeClock();
  const receiver = await startReceiver(
    { clock, ...(retention && { retention }) },
    { "email.opened": () => undefined, "email.failed": () => Promise.reject(new DoNotRetry("never")) },
  );
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
  test("a body is deleted sooner if the option says so, and its id, its digest and the reason for a refused retry stay", async () => {
    const { clock, receiver, deliver, pruneAt, bodyOf } = await start({ idsMs: 7 * DAY, bodiesMs: 2 * DAY });
    const event = makeEvent({ type: "email.opened" });
    const t0 = clock.now();
    await deliver(event);
    await untilWork(receiver, event.id, { state: "done" }, "email.opened");
    await pruneAt(t0 + 2 * DAY);
    expect(await bodyOf(event.id)).toBeInstanceOf(Uint8Array);
    await pruneAt(t0 + 2 * DAY + 2 * HOUR);
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
  });

  test("a body and its id are kept while the work is dead or parked", async () => {
    const { clock, receiver, deliver, pruneAt, bodyOf } = await start({ bodiesMs: DAY });
    const [dead, parked] = [makeEvent({ type: "email.failed" }), makeEvent({ type: "email.unheard" })];
    await deliver(dead);
    await deliver(parked);
    await untilWork(receiver, dead.id, { state: "dead" }, "email.failed");
    await pruneAt(clock.now() + 400 * DAY);
    for (const event of [dead, parked]) {
      expect(await bodyOf(event.id)).toBeInstanceOf(Uint8Array);
      expect(await deliver(event)).toBe("duplicate");
    }
    expect(await receiver.inbox.discard(parked.id)).toBe(1);
    await pruneAt(clock.now() + 2 * HOUR);
    expect(await receiver.inbox.get(parked.id)).toBeUndefined();
    expect(await bodyOf(dead.id)).toBeInstanceOf(Uint8Array);
  });
});

test("deliveries are accepted while thousands of events are pruned, and no new event is pruned", async () => {
  const { clock, receiver, deliver } = await start();
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 100 }, () => deliver()));
  }
  clock.set(clock.now() + 91 * DAY);
  await confirmClock(receiver, clock);
  const fresh: string[] = [];
  let left = 1_000;
  const lefts: number[] = [];
  await clock.advance(HOUR - 1_000);
  for (let step = 0; step < 60; step += 1) {
    await clock.advance(50);
    const event = makeEvent();
    expect(await deliver(event)).toBe("accepted");
    fresh.push(event.id);
    left = (await receiver.inbox.list({ limit: 500, type: "email.sent" })).items.filter(
      ({ id }) => !fresh.includes(id),
    ).length;
    lefts.push(left);
  }
  // In batches: it took several looks from the first to the last of those listed.
  expect(new Set(lefts).size).toBeGreaterThan(3);
  expect(left).toBe(0);
  for (const id of fresh) expect(await receiver.inbox.get(id)).toBeDefined();
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
