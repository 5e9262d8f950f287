import { setImmediate } from "node:timers/promises";
import { DoNotRetry, type HandlerContext, type ReceiverOptions, createSqliteStore } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { SECOND } from "#pigeonhole/base/duration.js";
import { sleep } from "#pigeonhole/base/wait.js";
import { RUN_TIME_BOUNDS } from "#pigeonhole/base/run-time-bounds.js";
import type { EndedRuns } from "../support/ended-runs.js";
import type { Figures } from "#pigeonhole/store/figures.js";
import { passWaits } from "../support/pass-waits.js";
import { closeReceiver, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { decorateStore } from "../support/store-in.js";
import { operate } from "../support/operate.js";

const BETWEEN_WRITES_MS = 10 * SECOND;

const endedIn = ({ runs }: Figures): EndedRuns[] =>
  [...runs].flatMap(([handler, of]) =>
    (["done", "failed"] as const).flatMap((outcome) =>
      of[outcome].flatMap((bucket, at) =>
        at % 2 === 0 ? { handler, outcome, fromMs: RUN_TIME_BOUNDS[bucket] ?? 0, runs: of[outcome][at + 1] ?? 0 } : [],
      ),
    ),
  );

/** A started receiver with one handler for `email.sent`, and what it has told its store of runs. */
async function start({
  run,
  note,
  ...options
}: Partial<ReceiverOptions> & {
  run: (ctx: HandlerContext) => unknown;
  /** In place of the store's own. */
  note?: () => Promise<void>;
}) {
  const noted: EndedRuns[] = [];
  const store = decorateStore((real) => ({
    writeFigures(write) {
      noted.push(...endedIn(write.figures));
      return note === undefined ? real.writeFigures(write) : note();
    },
  }));
  const clock = fakeClock();
  const receiver = openReceiver({ store, clock, ...options });
  receiver.on("email.sent", (_, ctx) => run(ctx), { retry: { maxAttempts: 2, initialMs: 1_000_000 } });
  await receiver.start();
  const handle = async (state: "done" | "dead" | "retrying" | "running"): Promise<void> => {
    const event = makeEvent();
    await post(receiver, event, { at: clock.now() });
    await untilWork(receiver, event.id, { state });
  };
  return { receiver, store, clock, noted, handle };
}

describe("handler times", () => {
  test.each<[what: string, (ctx: HandlerContext) => unknown, "done" | "dead" | "retrying", EndedRuns["outcome"]]>([
    ["returns", () => undefined, "done", "done"],
    ["commits", ({ commit }) => commit(() => undefined), "done", "done"],
    [
      "throws after its commit",
      async ({ commit }) => (await commit(() => 1), Promise.reject(new Error("x"))),
      "done",
      "done",
    ],
    ["throws", () => Promise.reject(new Error("no")), "retrying", "failed"],
    ["gives up", () => Promise.reject(new DoNotRetry("no")), "dead", "failed"],
  ])("a run that %s is counted", async (_, run, state, outcome) => {
    const { clock, noted, handle } = await start({ run });
    await handle(state);
    expect(noted).toEqual([]);
    await clock.advance(BETWEEN_WRITES_MS);
    expect(noted).toEqual([{ handler: "email.sent", outcome, fromMs: 0, runs: 1 }]);
    await clock.advance(BETWEEN_WRITES_MS);
    expect(noted).toHaveLength(1);
  });

  test.each([
    [0, 0],
    [1, 1],
    [19, 18],
    [20, 20],
    [49, 45],
    [50, 50],
    [299_999, 270_000],
    [300_000, 300_000],
    [3_600_000, 300_000],
  ])("a run of %i ms is counted with those of at least %i ms", async (tookMs, fromMs) => {
    const clock = fakeClock();
    let elapsed = 0;
    const { noted, handle } = await start({
      clock: { ...clock, elapsed: () => elapsed },
      // Before it first waits, and after.
      run: async () => {
        elapsed += Math.floor(tookMs / 2);
        await setImmediate();
        elapsed += Math.ceil(tookMs / 2);
      },
    });
    await handle("done");
    await clock.advance(BETWEEN_WRITES_MS);
    expect(noted).toEqual([{ handler: "email.sent", outcome: "done", fromMs, runs: 1 }]);
  });

  test("a run that takes longer than timeoutMs is counted as failed then", async () => {
    const { store, clock, handle } = await start({ run: () => new Promise(() => undefined) });
    await handle("running");
    await clock.advance(60 * SECOND + BETWEEN_WRITES_MS);
    expect(await operate(store).handlerTimes({})).toMatchObject([
      { runs: 1, failed: 1, buckets: [{ fromMs: 60_000, done: 0, failed: 1 }] },
    ]);
  });

  test("a run that the stop has aborted is not counted, since it runs again", async () => {
    const { receiver, clock, noted, handle } = await start({ run: () => new Promise(() => undefined) });
    await handle("running");
    await closeReceiver(receiver, clock);
    expect(noted).toEqual([]);
  });

  test("the runs of all drains are written", async () => {
    const { receiver, clock, noted } = await start({ run: () => undefined, role: "accept" });
    for (const _ of [1, 2]) {
      await post(receiver, makeEvent(), { at: clock.now() });
      expect(await receiver.drain()).toMatchObject({ done: 1 });
    }
    await clock.advance(BETWEEN_WRITES_MS);
    expect(noted).toEqual([{ handler: "email.sent", outcome: "done", fromMs: 0, runs: 2 }]);
  });

  test("a store that does not answer delays neither handlers nor the stop", async () => {
    const { receiver, clock, noted, handle } = await start({
      run: () => undefined,
      note: () => new Promise(() => undefined),
    });
    await handle("done");
    await clock.advance(BETWEEN_WRITES_MS);
    expect(noted).toHaveLength(1);
    await handle("done");
    await clock.advance(5 * BETWEEN_WRITES_MS);
    expect(noted).toHaveLength(1);
    await passWaits(() => closeReceiver(receiver, clock));
    expect([receiver.state, noted.length]).toEqual(["stopped", 2]);
  });

  test("handlers are counted each on its own", async () => {
    const clock = fakeClock();
    const store = createSqliteStore({ file: ":memory:" });
    const receiver = openReceiver({ store, clock });
    receiver.on("email.sent", () => sleep(clock, 12), { name: "fast" });
    receiver.on("email.sent", () => sleep(clock, 3_000), { name: "slow" });
    await receiver.start();
    await post(receiver, makeEvent(), { at: clock.now() });
    await clock.advance(2 * BETWEEN_WRITES_MS);
    expect(await operate(store).handlerTimes({})).toMatchObject([
      { handler: "fast", runs: 1, medianMs: 13 },
      { handler: "slow", runs: 1, medianMs: 3_300 },
    ]);
  });
});
