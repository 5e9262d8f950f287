import { type Clock, type HandlerOptions, PigeonholeError, type Store } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { busiestSpan } from "../support/busiest-span.js";
import {
  captureLog,
  closeReceiver,
  decorateStore,
  makeEvent,
  openReceiver,
  post,
  storeIn,
  tempFile,
  untilWork,
  workOf,
} from "../support/receiver.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A fake clock that is ahead of its timers while the process is busy. */
function busyClock() {
  const clock = fakeClock();
  let busyMs = 0;
  return {
    ...clock,
    now: () => clock.now() + busyMs,
    elapsed: () => clock.elapsedMs + busyMs,
    block: (ms: number) => void (busyMs += ms),
    get nextTimerInMs() {
      return clock.nextTimerInMs;
    },
  };
}

interface Given {
  clock?: ReturnType<typeof busyClock>;
  store?: Store;
  /** The handler, once its begin is noted; `place` is the number of the run. */
  run?: (place: number) => unknown;
}

const keyOf = ({ data }: { data: unknown }): string => (data as { key: string }).key;

/** A receiver whose handler notes when its runs begin. */
async function open(
  options: HandlerOptions,
  { clock = busyClock(), store = storeIn(":memory:"), run = () => undefined }: Given = {},
) {
  const log = captureLog();
  const receiver = openReceiver({
    store,
    clock: clock satisfies Clock,
    random: () => 0.5,
    concurrency: 64,
    logger: log.logger,
  });
  const begun: number[] = [];
  receiver.on("email.sent", () => run(begun.push(clock.elapsed()) - 1), options);
  await receiver.start();
  const send = async (count: number): Promise<string[]> => {
    const events = Array.from({ length: count }, (_, index) => makeEvent({ data: { key: String(index % 3) } }));
    await Promise.all(events.map((event) => post(receiver, event)));
    return events.map(({ id }) => id);
  };
  /** Lets time pass until so many runs have begun. */
  const until = async (count: number, stepMs = 5): Promise<void> => {
    while (begun.length < count) await clock.advance(Math.max(stepMs, clock.nextTimerInMs ?? 0));
  };
  return { receiver, clock, log, begun, send, until };
}

test.each([
  [{ runs: 1, per: "1s" }, SECOND],
  [{ runs: 10, per: "1s" }, SECOND],
  [{ runs: 100, per: 1_500 }, 1_500],
  [{ runs: 30, per: "1m" }, MINUTE],
] as const)(
  "with a rate of %o, no span has more runs, and a burst takes hardly longer than it must",
  async (rate, per) => {
    const count = 2 * rate.runs + 1;
    const { begun, send, until } = await open({ rate });
    await send(count);
    await until(count, per / 200);
    expect(busiestSpan(begun, per)).toBeLessThanOrEqual(rate.runs);
    expect((begun.at(-1) ?? 0) - (begun[0] ?? 0)).toBeLessThan(2 * per * 1.1);
  },
);

test("the first event after a quiet time runs at once", async () => {
  const { clock, begun, send, until } = await open({ rate: { runs: 1, per: "1m" } });
  await send(1);
  await until(1);
  await clock.advance(2 * MINUTE);
  await send(1);
  await until(2, 1);
  expect(begun[1]).toBeLessThan(2 * MINUTE + SECOND / 10);
});

test("what waits for its rate says so, in the store", async () => {
  const { receiver, clock, begun, send, until } = await open({ rate: { runs: 1, per: "2m" } });
  const [, second = ""] = await send(2);
  await until(1);
  // Each process says within ten seconds what it waits for.
  await clock.advance(15 * SECOND);
  expect(await workOf(receiver, second)).toMatchObject({ state: "pending", attempts: 0, waitsFor: "rate" });
  const listed = { state: "pending", handlers: [{ state: "pending", attempts: 0, waitsFor: "rate" }] };
  expect((await receiver.inbox.list()).items.find(({ id }) => id === second)).toMatchObject(listed);
  expect((await receiver.stats()).waitsFor).toEqual({ "email.sent": "rate" });
  await until(2, SECOND);
  expect(begun[1]).toBeGreaterThanOrEqual(2 * MINUTE);
  expect(await workOf(receiver, second)).toMatchObject({ state: "done", waitsFor: null });
});

test("runs that fail count as well", async () => {
  const run = (place: number): void => {
    if (place % 3 > 0) throw new Error("not yet");
  };
  const { begun, send, until } = await open(
    { rate: { runs: 5, per: "1s" }, retry: { initialMs: 0, jitter: 0 } },
    { run },
  );
  await send(5);
  await until(13);
  expect(busiestSpan(begun, SECOND)).toBeLessThanOrEqual(5);
});

test("runs that block the process do not make later ones begin together", async () => {
  const clock = busyClock();
  const lengths = [0, 130, 0, 700, 30, 60];
  const run = (place: number): void => clock.block(lengths[place % lengths.length] ?? 0);
  const { begun, send, until } = await open({ rate: { runs: 20, per: "1s" } }, { clock, run });
  await send(100);
  await until(100);
  expect(busiestSpan(begun, SECOND)).toBeLessThanOrEqual(20);
});

test.each([
  ["its key is asked for in the store", { key: keyOf }],
  ["other runs of it go on", { concurrency: 2 }],
] satisfies [string, HandlerOptions][])("the rate holds where work also waits since %s", async (_, options) => {
  const clock = busyClock();
  let asked = 0;
  const holdKey = () => Promise.resolve((asked += 1) % 4 > 0 || (clock.block(300), true));
  const run = (place: number): unknown =>
    place % 5 === 0 ? new Promise<void>((resolve) => clock.setTimer(resolve, 700)) : undefined;
  const given = { clock, store: decorateStore(() => ({ holdKey })), run };
  const { begun, send, until } = await open({ rate: { runs: 10, per: "1s" }, ...options }, given);
  await send(40);
  await until(40);
  expect(busiestSpan(begun, SECOND)).toBeLessThanOrEqual(10);
});

describe.each([
  ["key", { key: keyOf }],
  ["newest of a key", { key: ({ id }) => id, only: "newest" }],
] satisfies [string, HandlerOptions][])("with a store that takes long to say whether a %s may run", (_, options) => {
  async function openSlow(ms: number, rate: { runs: number; per: "1s" | "1m" }) {
    const clock = busyClock();
    const pass = (): Promise<void> => new Promise((resolve) => void clock.setTimer(resolve, ms));
    const store = decorateStore((real) =>
      !("only" in options)
        ? { holdKey: () => pass().then(() => true) }
        : { beginNewest: (...args) => pass().then(() => real.beginNewest(...args)) },
    );
    return open({ rate, ...options }, { clock, store });
  }

  test.each([
    [60, { runs: 10, per: "1s" }, SECOND, 1.2],
    [1_500, { runs: 2, per: "1s" }, SECOND, 5],
    [2_500, { runs: 20, per: "1m" }, MINUTE, 2],
  ] as const)("events run, for %d ms with a rate of %o", async (ms, rate, per, factor) => {
    const { begun, send, until } = await openSlow(ms, rate);
    await send(40);
    await until(40, per / 100);
    expect(busiestSpan(begun, per)).toBeLessThanOrEqual(rate.runs);
    expect((begun.at(-1) ?? 0) - (begun[0] ?? 0)).toBeLessThan((40 / rate.runs) * per * factor);
  });

  test("what waits for its turn does not hold up a stop", async () => {
    const { receiver, clock, begun, send, until } = await openSlow(60, { runs: 2, per: "1s" });
    await send(4);
    await until(2);
    await clock.advance(100);
    await receiver.stop();
    expect(begun).toHaveLength(2);
  });
});

test.each([-2 * HOUR, 2 * HOUR])("the rate holds while the clock is set by %d ms", async (ms) => {
  const { clock, begun, send, until } = await open({ rate: { runs: 2, per: "1m" } });
  await send(3);
  await until(3, SECOND);
  clock.set(clock.now() + ms);
  await send(3);
  await until(6, SECOND);
  expect(busiestSpan(begun, MINUTE)).toBeLessThanOrEqual(2);
  expect(begun.at(-1)).toBeLessThan(4 * MINUTE);
});

test("of a burst of one key, only the newest takes a place in the rate", async () => {
  const rate = { runs: 1, per: "1m" } as const;
  const { receiver, clock, begun, send } = await open({ rate, key: () => "same", only: "newest" });
  const newest = (await send(20)).at(-1) ?? "";
  await untilWork(receiver, newest, { state: "done", reason: null }, undefined, clock);
  // The first event runs too, unless it was superseded before its run.
  expect(begun.length).toBeLessThanOrEqual(2);
  expect(clock.elapsed()).toBeLessThan(begun.length * MINUTE);
});

test("a batch is one run", async () => {
  const clock = busyClock();
  const calls: { at: number; events: number }[] = [];
  const receiver = openReceiver({ clock });
  receiver.onBatch("email.sent", ({ length }) => void calls.push({ at: clock.elapsed(), events: length }), {
    max: 50,
    wait: "100ms",
    rate: { runs: 1, per: "1s" },
  });
  await receiver.start();
  const events = Array.from({ length: 150 }, () => makeEvent());
  await Promise.all(events.map((event) => post(receiver, event)));
  while (calls.length < 3) await clock.advance(5);
  expect(calls.map((call) => call.events)).toEqual([50, 50, 50]);
  const begun = calls.map(({ at }) => at);
  expect(busiestSpan(begun, SECOND)).toBe(1);
  expect(calls[2]?.at).toBeLessThan(2.5 * SECOND);
});

test("what waits for its rate keeps no place from another handler", async () => {
  const clock = busyClock();
  const receiver = openReceiver({ clock, concurrency: 1 });
  const runs = { limited: 0, other: 0 };
  const runSlowly = (): Promise<void> => new Promise((done) => clock.setTimer(() => done(void runs.other++), 20));
  receiver.on("email.sent", () => void runs.limited++, { name: "limited", rate: { runs: 1, per: "1s" } });
  receiver.on("email.sent", runSlowly, { name: "other" });
  await receiver.start();
  await Promise.all(Array.from({ length: 20 }, () => post(receiver, makeEvent())));
  while (runs.other < 20) await clock.advance(5);
  expect(runs.limited).toBe(1);
});

test("events of a key that is busy do not hold up those of other keys", async () => {
  const clock = busyClock();
  const run = (place: number): unknown =>
    place === 0 ? new Promise<void>((resolve) => clock.setTimer(resolve, MINUTE)) : undefined;
  const options = { rate: { runs: 10, per: "1s" }, key: keyOf } as const;
  const { begun, send, until } = await open(options, { clock, run });
  // Of three keys, the first is busy.
  await send(30);
  await until(21);
  expect(begun.at(-1)).toBeLessThan(3 * SECOND);
});

test("long runs do not hold up those that may run beside them", async () => {
  const clock = busyClock();
  const run = (): unknown => new Promise<void>((resolve) => clock.setTimer(resolve, 10 * SECOND));
  const { receiver, begun, send, until } = await open({ rate: { runs: 10, per: "1s" } }, { clock, run });
  await send(30);
  // What waits for its rate is no dead process's.
  expect((await receiver.stats()).pending).toBeGreaterThanOrEqual(27);
  await until(30);
  expect((begun.at(-1) ?? 0) - (begun[0] ?? 0)).toBeLessThan(3.5 * SECOND);
});

describe("over a restart", () => {
  test("the next run waits for its time", async () => {
    const [clock, file] = [busyClock(), tempFile()];
    const rate = { runs: 1, per: "2m" } as const;
    const first = await open({ rate }, { clock, store: storeIn(file) });
    await first.send(2);
    await first.until(1);
    await closeReceiver(first.receiver, clock);
    const { begun, until } = await open({ rate }, { clock, store: storeIn(file) });
    await clock.advance(2 * MINUTE - SECOND);
    expect(begun).toEqual([]);
    await until(1, SECOND);
    expect(clock.elapsed()).toBeLessThan(2.1 * MINUTE);
  });
});

test("a store that fails to reserve a run is asked again", async () => {
  let failures = 2;
  const store = decorateStore((real) => ({
    reserveRuns: (request) =>
      (failures -= 1) >= 0 ? Promise.reject(new PigeonholeError("store_busy", "busy")) : real.reserveRuns(request),
  }));
  const { log, send, until, begun } = await open({ rate: { runs: 10, per: "1s" } }, { store });
  await send(3);
  await until(3);
  expect(log.named("handler_queue_failed")).toMatchObject([{ code: "store_busy" }, { code: "store_busy" }]);
  expect(begun[0]).toBeGreaterThanOrEqual(2 * SECOND);
});
