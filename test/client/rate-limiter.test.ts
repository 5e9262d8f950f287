import { setMaxListeners } from "node:events";
import * as fc from "fast-check";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "#pigeonhole/client.js";
import { RateLimiter } from "#pigeonhole/client/rate-limiter.js";
import { startApi } from "./api-server.js";
import { API_KEY, EVENT, SENT, SENT_BATCH, clientOf } from "./support.js";
import { cpuMs } from "../support/cpu-ms.js";
import { endOfTurn } from "../support/end-of-turn.js";

const START = Date.UTC(2026, 5, 1);

function setUp({ perMinute = 600, burst = 100 } = {}) {
  const clock = fakeClock(START);
  const limiter = new RateLimiter({ clock, perMinute, burst });
  const passed: [string, number][] = [];
  const take = (name: string, events: number, signal?: AbortSignal): Promise<void> =>
    limiter.take(events, signal).then(() => void passed.push([name, clock.now() - START]));
  return { clock, limiter, passed, take };
}

function abortable(): { signal: AbortSignal; abort: (reason: unknown) => void } {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

describe("the rate limiter", () => {
  test("the rate limiter starts empty, so that the first event waits for its share of the minute", async () => {
    const { clock, passed, take } = setUp();
    const done = take("a", 1);
    await clock.advance(99);
    expect(passed).toEqual([]);
    await clock.advance(1);
    await done;
    expect(passed).toEqual([["a", 100]]);
  });

  test("the rate limiter counts a batch of 100 as 100", async () => {
    const { clock, passed, take } = setUp();
    const all = [take("batch", 100), take("one", 1), take("batch", 100)];
    await clock.advance(20_100);
    await Promise.all(all);
    expect(passed).toEqual([
      ["batch", 10_000],
      ["one", 10_100],
      ["batch", 20_100],
    ]);
  });

  test("the rate limiter keeps the order, so that a small call does not overtake a large one", async () => {
    const { clock, passed, take } = setUp();
    await clock.advance(5_000);
    const all = [take("dear", 100), take("cheap", 1)];
    await clock.advance(5_100);
    await Promise.all(all);
    expect(passed.map(([name]) => name)).toEqual(["dear", "cheap"]);
  });

  test("the rate limiter rejects an aborted call with the reason of its signal, and the next call takes its place", async () => {
    const { clock, passed, take } = setUp();
    const controller = new AbortController();
    const [dear, cheap] = [take("dear", 100, controller.signal), take("cheap", 1)];
    await clock.advance(500);
    controller.abort("enough");
    await expect(dear).rejects.toBe("enough");
    await cheap;
    expect([passed, clock.pendingTimers]).toEqual([[["cheap", 500]], 0]);
    await expect(take("late", 1, controller.signal)).rejects.toBe("enough");
  });

  test("the rate limiter gives back what aborted calls reserved, even if many calls share one signal", async () => {
    const { clock, passed, take } = setUp();
    const { signal, abort } = abortable();
    const aborted = [take("dear", 100, signal), ...Array.from({ length: 20 }, () => take("cheap", 1, signal))];
    const other = take("other", 1);
    await clock.advance(1_000);
    abort("enough");
    expect((await Promise.allSettled(aborted)).map(({ status }) => status)).toEqual(aborted.map(() => "rejected"));
    await clock.advance(0);
    await other;
    expect(passed).toEqual([["other", 1_000]]);
  });

  test("the rate limiter forgets the calls of the last minute at a low cost, however many they are", async () => {
    const { clock, limiter } = setUp({ perMinute: 600_000_000 });
    await clock.advance(1);
    for (let call = 0; call < 120_000; call += 1) {
      if (call % 100 === 0) clock.set(clock.now() + 1);
      await limiter.take(1);
    }
    clock.set(clock.now() + 60_000);
    const startedAt = cpuMs();
    await limiter.take(1);
    expect(cpuMs() - startedAt).toBeLessThan(1_000);
  });

  test("the rate limiter lets nothing pass during a pause, and has saved nothing after it", async () => {
    const { clock, limiter, passed, take } = setUp();
    await clock.advance(10_000);
    limiter.pause(5_000);
    limiter.pause(1_000);
    const done = take("a", 1);
    await clock.advance(5_099);
    expect(passed).toEqual([]);
    await clock.advance(1);
    await done;
    expect(passed).toEqual([["a", 15_100]]);
  });

  test.each([
    ["back", -86_400_000, 10_000],
    ["forward", 86_400_000, 0],
  ])("the rate limiter keeps its rate if the wall clock is set %s", async (_, jumpMs, atMostMs) => {
    const { clock, take } = setUp();
    await clock.advance(1_000);
    const first = take("a", 50);
    clock.set(clock.now() + jumpMs);
    const done = Promise.all([first, take("b", 1)]);
    await clock.advance(Math.max(atMostMs, 1));
    await done;
  });

  test("the rate limiter never lets more events pass than the rate plus what it has saved", async () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 5_000 })), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(7, 60, 600), async (list, perMinute) => {
        const { clock, limiter } = setUp({ perMinute });
        const passed: { at: number; events: number }[] = [];
        const all = list.map(async ([events, pauseMs]) => {
          await new Promise((resolve) => void clock.setTimer(() => resolve(undefined), pauseMs));
          await limiter.take(events);
          passed.push({ at: clock.now(), events });
        });
        await clock.advance(24 * 3_600_000);
        await Promise.all(all);
        for (const [from, first] of passed.entries()) {
          let sum = 0;
          for (const { at, events } of passed.slice(from)) {
            sum += events;
            if (sum > events && at - first.at < 60_000) expect(sum).toBeLessThanOrEqual(perMinute);
            // One millisecond of grace, since waits are whole.
            expect(sum).toBeLessThanOrEqual(100 + ((at - first.at + 1) * perMinute) / 60_000 + 1e-6);
          }
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("a client", () => {
  test("a client delays calls that send events by its clock, and no others", async () => {
    const clock = fakeClock(START);
    const server = await startApi(SENT, { body: { data: [] } }, SENT_BATCH);
    const client = clientOf(server, { clock });
    const sent = client.contactEvents.send(EVENT);
    await clock.advance(99);
    expect(server.received).toEqual([]);
    await clock.advance(1);
    await sent;
    expect(await client.contactEvents.names()).toEqual([]);

    const batch = client.contactEvents.sendBatch(Array.from({ length: 100 }, () => EVENT));
    await clock.advance(9_999);
    expect(server.received).toHaveLength(2);
    await clock.advance(1);
    await batch;
    expect(server.received).toHaveLength(3);
  });

  test("a client on the machine's clock sends no earlier if that is set forward", async () => {
    const fetch = vi.fn<typeof globalThis.fetch>();
    const client = createClient({ apiKey: API_KEY, baseUrl: "http://127.0.0.1:1", fetch, eventsPerMinute: 1 });
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000);
    onTestFinished(() => now.mockRestore());
    const { signal, abort } = abortable();
    const sent = client.contactEvents.send(EVENT, { signal });
    await endOfTurn();
    expect(fetch).not.toHaveBeenCalled();
    abort("enough");
    await expect(sent).rejects.toBe("enough");
  });
});
