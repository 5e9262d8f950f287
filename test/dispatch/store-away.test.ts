import { DoNotRetry, type HandlerContext, PigeonholeError, type Store } from "pigeonhole";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { captureLog, decorateStore, makeEvent, makeGate, openReceiver, post, workOf } from "../support/receiver.js";

const CONCURRENCY = 4;

/** What a store refuses while it cannot be reached. Deliveries go on, so that there is work. */
const REFUSED = ["lease", "renew", "release", "recover", "listPaused", "loadSteps", "saveStep", "settle", "commit"];

/** The data of a run's event, and what makes the store fail until a time has passed. */
interface RunOf {
  data: Record<string, unknown>;
  holdStore: (forMs: number) => Promise<void>;
}

/** A receiver whose handler may run once, on a store that can be away. */
async function open(
  handler: (ctx: HandlerContext, runs: number, of: RunOf) => unknown,
  refused: readonly string[] = REFUSED,
  maxAttempts = 1,
) {
  const clock = fakeClock();
  const log = captureLog();
  const server = { isAway: false, code: "store_unreachable" as const };
  const refuse = () => new PigeonholeError(server.code, "no answer from the server");
  /** Numbers of the events whose leases were given back. */
  const released: number[] = [];
  const store = decorateStore((real) => {
    const over = refused.map((name) => {
      const call = real[name as "settle"] as (...args: unknown[]) => Promise<unknown>;
      return [name, (...args: unknown[]) => (server.isAway ? Promise.reject(refuse()) : call(...args))];
    });
    const taken = Object.fromEntries(over) as Partial<Store>;
    const { release = (...args) => real.release(...args) } = taken;
    return {
      ...taken,
      release: async (leases, now) => {
        await release(leases, now);
        released.push(...leases.map(({ seq }) => seq));
      },
    };
  });
  const retry = { maxAttempts, initialMs: 2_000, factor: 1 };
  const fixed = { clock, random: () => 0.5 };
  const receiver = openReceiver({ store, ...fixed, retry, concurrency: CONCURRENCY, logger: log.logger });
  let runs = 0;
  const holdStore = async (forMs: number) => {
    server.isAway = true;
    await new Promise((resolve) => clock.setTimer(() => resolve(undefined), forMs));
    server.isAway = false;
  };
  receiver.on("email.sent", ({ data }, ctx) => {
    runs += 1;
    return handler(ctx, runs, { data, holdStore });
  });
  await receiver.start();
  return { clock, log, server, receiver, released, runs: () => runs };
}

async function deliver({ receiver }: Awaited<ReturnType<typeof open>>, data = {}) {
  const event = makeEvent({ data });
  expect((await post(receiver, event)).status).toBe(200);
  return event.id;
}

async function seconds(clock: FakeClock, count: number): Promise<void> {
  for (let second = 0; second < count; second += 1) await clock.advance(1_000);
}

/** Effects in the store are those of the last run. */
const write = () => undefined;

describe("a store that is away while a handler runs", () => {
  const AGAIN = { runs: 2, state: "done", attempts: 1, interrupted: 1 };
  const ONCE = { runs: 1, state: "done", attempts: 1, interrupted: 0 };
  const mine = (cause: unknown): never => {
    throw new Error("mine", { cause });
  };
  const giveUp = (cause: unknown): never => {
    throw new DoNotRetry("mine", { cause });
  };
  const ignore = (): undefined => undefined;

  test.each<[string, (ctx: HandlerContext) => unknown, typeof ONCE | { runs: number; state: string }, string[]?]>([
    ["returns its commit", (ctx) => ctx.commit(write), AGAIN],
    ["goes on after its commit", (ctx) => ctx.commit(write).catch(ignore), AGAIN],
    ["throws another error after its commit", (ctx) => ctx.commit(write).catch(mine), AGAIN],
    ["gives up after its commit", (ctx) => ctx.commit(write).catch(giveUp), AGAIN],
    ["commits a second time", (ctx) => ctx.commit(write).catch(() => ctx.commit(write)), AGAIN],
    ["awaits a step", (ctx) => ctx.step("s", () => 1), AGAIN],
    ["throws another error after a step", (ctx) => ctx.step("s", () => 1).catch(mine), AGAIN],
    ["fails inside its commit, once the store is back", (ctx) => ctx.commit(mine), { runs: 2, state: "dead" }],
    ["is done although its step was not kept", (ctx) => ctx.step("s", () => 1).catch(ignore), ONCE, ["saveStep"]],
    // What became of the run is kept, and written at last.
    ["is done", ignore, ONCE],
    ["is done, while leases are taken", ignore, ONCE, ["settle"]],
  ])(
    "takes no attempt of a handler that %s, and what is not done runs again when it is back",
    async (_, handler, expected, refused) => {
      const opened = await open(handler, refused);
      const { clock, log, server, receiver, runs } = opened;
      server.isAway = true;
      const id = await deliver(opened);
      await seconds(clock, 90);
      expect(runs()).toBe(1);
      server.isAway = false;
      await seconds(clock, 3);
      const interrupted = log.named("run_interrupted");
      expect({ runs: runs(), interrupted: interrupted.length, ...(await workOf(receiver, id)) }).toMatchObject(
        expected,
      );
      for (const line of interrupted)
        expect(line).toMatchObject({ eventId: id, attempt: 1, code: "store_unreachable" });
      expect([log.named("handler_failed"), log.named("lease_lost")]).toEqual([[], []]);
    },
  );

  test("says once that a run cannot be settled", async () => {
    const opened = await open(() => undefined, ["settle"]);
    opened.server.isAway = true;
    await deliver(opened);
    await seconds(opened.clock, 300);
    expect(opened.log.named("settle_failed")).toMatchObject([{ code: "store_unreachable" }]);
    opened.server.isAway = false;
    await seconds(opened.clock, 3);
  });

  test("a settlement that was never written is given back at the stop", async () => {
    const opened = await open(() => undefined, ["settle"]);
    opened.server.isAway = true;
    await deliver(opened);
    await seconds(opened.clock, 90);
    const stopped = opened.receiver.stop({ timeoutMs: 0 });
    await seconds(opened.clock, 2);
    await stopped;
    expect(opened.released).toEqual([1]);
  });

  test("no handler begins while the store is known to be away", async () => {
    const gate = makeGate();
    const opened = await open(async (ctx) => {
      await gate.passed;
      await ctx.commit(write);
    });
    const { clock, server, receiver, runs } = opened;
    const ids: string[] = [];
    for (let count = 0; count < 40; count += 1) ids.push(await deliver(opened));
    await seconds(clock, 1);
    expect(runs()).toBe(CONCURRENCY);
    server.isAway = true;
    gate.open();
    await seconds(clock, 90);
    expect(runs()).toBe(CONCURRENCY);
    server.isAway = false;
    await seconds(clock, 5);
    for (const id of ids) expect(await workOf(receiver, id)).toMatchObject({ state: "done", attempts: 1 });
    expect(runs()).toBe(ids.length + CONCURRENCY);
  });

  test("a store that fails only under commits is tried at intervals, and each third run counts", async () => {
    const opened = await open((ctx) => ctx.commit(write), ["commit"], 3);
    const { clock, log, server, receiver, runs } = opened;
    server.isAway = true;
    const id = await deliver(opened);
    await seconds(clock, 2);
    expect(runs()).toBeLessThan(3);
    for (let second = 0; second < 20 && log.named("handler_failed").length === 0; second += 1) await seconds(clock, 1);
    expect(log.named("handler_failed")).toMatchObject([{ eventId: id, attempt: 1, code: "store_unreachable" }]);
    expect(log.named("run_interrupted")).toHaveLength(2);
    expect(runs()).toBe(3);
    server.isAway = false;
    await seconds(clock, 10);
    expect(await workOf(receiver, id)).toMatchObject({ state: "done", attempts: 2 });
  });

  test("outages that each interrupt other work do not add up", async () => {
    const opened = await open((ctx) => ctx.commit(write));
    const { clock, log, server, receiver } = opened;
    for (let outage = 0; outage < 5; outage += 1) {
      server.isAway = true;
      const id = await deliver(opened);
      await seconds(clock, 5);
      server.isAway = false;
      await seconds(clock, 5);
      expect(await workOf(receiver, id)).toMatchObject({ state: "done", attempts: 1 });
    }
    expect(log.named("run_interrupted")).toHaveLength(5);
  });
});

test("work that makes the store fail is dead after its attempts, and other work of its handler is done", async () => {
  const run = async ({ step }: HandlerContext, _: number, { data, holdStore }: RunOf) => {
    const held = data["holds"] === true ? holdStore(500) : undefined;
    try {
      await step("s", () => 1);
    } finally {
      await held;
    }
  };
  const opened = await open(run, REFUSED, 3);
  const { clock, log, receiver } = opened;
  const holder = await deliver(opened, { holds: true });
  const others: string[] = [];
  for (let second = 0; second < 60; second += 1) {
    if (second % 2 === 0) others.push(await deliver(opened));
    await seconds(clock, 1);
  }
  expect(await workOf(receiver, holder)).toMatchObject({
    state: "dead",
    reason: "attempts_spent",
    attempts: 3,
    error: expect.stringContaining("The store failed under 3 runs in a row"),
  });
  expect(log.named("handler_failed").filter(({ eventId }) => eventId === holder)).toMatchObject([
    { attempt: 1, code: "store_unreachable" },
    { attempt: 2, code: "store_unreachable" },
  ]);
  for (const id of others) expect(await workOf(receiver, id)).toMatchObject({ state: "done" });
});
