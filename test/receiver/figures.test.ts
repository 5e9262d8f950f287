import { setImmediate } from "node:timers/promises";
import { type HandlerContext, type ReceiverOptions, DoNotRetry, PigeonholeError } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { SECOND } from "#pigeonhole/base/duration.js";
import { RUN_TIME_BOUNDS } from "#pigeonhole/base/run-time-bounds.js";
import type { FigureRange, Figures, FiguresWrite } from "#pigeonhole/store/figures.js";
import type { EndedRuns } from "../support/ended-runs.js";
import { captureLog, closeReceiver, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { decorateStore } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";
import { operate, readFigures } from "../support/operate.js";
import { passWaits } from "../support/pass-waits.js";
import { postUntil } from "../support/start-receiver.js";

const BETWEEN_WRITES_MS = 10 * SECOND;
const HEARTBEAT_MS = 60 * SECOND;

const endedIn = ({ runs }: Figures): EndedRuns[] =>
  [...runs].flatMap(([handler, of]) =>
    (["done", "failed"] as const).flatMap((outcome) =>
      of[outcome].flatMap((bucket, at) =>
        at % 2 === 0 ? { handler, outcome, fromMs: RUN_TIME_BOUNDS[bucket] ?? 0, runs: of[outcome][at + 1] ?? 0 } : [],
      ),
    ),
  );

/** A started receiver, and what it writes. */
async function start({
  run = () => undefined,
  answer,
  ...options
}: Partial<ReceiverOptions> & {
  run?: (ctx: HandlerContext) => unknown;
  /** In place of the store's own. */
  answer?: () => Promise<void> | undefined;
} = {}) {
  const writes: FiguresWrite[] = [];
  const store = decorateStore((real) => ({
    writeFigures(write) {
      writes.push(write);
      return answer?.() ?? real.writeFigures(write);
    },
  }));
  const clock = fakeClock();
  const receiver = openReceiver({ store, clock, ...options });
  receiver.on("email.sent", (_, ctx) => run(ctx), { retry: { maxAttempts: 2, initialMs: 1_000_000 } });
  receiver.on("email.opened", () => undefined);
  await receiver.start();
  const deliver = async (): Promise<string> => {
    const event = makeEvent();
    await post(receiver, event, { at: clock.now() });
    return event.id;
  };
  /** The value of the step that the last write was in. */
  const read = async (range: FigureRange = "24h") => {
    const series = await readFigures(store, { range, now: clock.now() });
    return { ...series, at: <Value>(values: readonly Value[] | undefined): Value | undefined => values?.at(-1) };
  };
  /** The runs that were told of. */
  const runs = () => writes.flatMap(({ figures }) => endedIn(figures));
  return { receiver, store, clock, writes, runs, deliver, read };
}

describe("figures of a process", () => {
  test("answers and runs of ten seconds are written together", async () => {
    const { receiver, clock, writes, deliver, read } = await start();
    const events = [await deliver(), await deliver(), await deliver()];
    await post(receiver, makeEvent(), { at: clock.now(), secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" });
    for (const id of events) await untilWork(receiver, id, { state: "done" });
    await postUntil(receiver, { state: "done" }, { type: "email.opened" });
    expect(writes).toEqual([]);
    await clock.advance(BETWEEN_WRITES_MS);
    expect(writes).toHaveLength(1);
    const { answers, latency, handlers, backlog, at } = await read();
    expect([at(answers.accepted), at(answers.unverified), answers.duplicate]).toEqual([4, 1, undefined]);
    expect(handlers.map(({ handler, runs, failed }) => [handler, at(runs), at(failed)])).toEqual([
      ["email.opened", 1, 0],
      ["email.sent", 3, 0],
    ]);
    expect(at(latency.p99FromMs)).toBe(0);
    expect(at(backlog.depth)).toBe(0);
  });

  test("the time of an answer is that from its headers to its answer, and strangers do not count", async () => {
    let elapsed = 0;
    const clock = fakeClock();
    const gate = makeGate();
    const { receiver, store, deliver } = await start({ clock: { ...clock, elapsed: () => elapsed } });
    const accept = store.accept.bind(store);
    store.accept = async (event) => (await gate.passed, accept(event));
    const delivered = deliver();
    elapsed = 70;
    gate.open();
    await delivered;
    await receiver.fetch(new Request("http://pigeonhole.test/", { method: "POST", body: "{}" }));
    await clock.advance(BETWEEN_WRITES_MS);
    const { latency, answers } = await readFigures(store, { range: "24h", now: clock.now() });
    expect(latency.medianFromMs.at(-1)).toBe(65);
    expect([answers.accepted?.at(-1), answers.unsigned?.at(-1)]).toEqual([1, 1]);
  });

  test("failed runs are counted, and work that waits for another is the backlog", async () => {
    const { receiver, clock, deliver, read } = await start({ run: () => Promise.reject(new Error("no")) });
    await untilWork(receiver, await deliver(), { state: "retrying" });
    await clock.advance(BETWEEN_WRITES_MS);
    const { handlers, backlog, at } = await read();
    expect(handlers.map(({ runs, failed }) => [at(runs), at(failed)])).toEqual([[1, 1]]);
    expect([at(backlog.depth), at(backlog.oldestAgeMs)]).toEqual([1, BETWEEN_WRITES_MS]);
  });

  test("while nothing happens, a process writes once a minute that it lives", async () => {
    const { clock, writes } = await start();
    for (let seconds = 0; seconds < 240; seconds += 10) await clock.advance(BETWEEN_WRITES_MS);
    expect(writes.length).toBeGreaterThanOrEqual(4);
    expect(writes.length).toBeLessThanOrEqual(5);
    for (const { figures } of writes) expect([figures.answers, figures.runs.size]).toEqual([{}, 0]);
  });

  test("under load there is one write in ten seconds", async () => {
    const { receiver, clock, writes, deliver } = await start();
    for (let seconds = 0; seconds < 20; seconds += 2) {
      await untilWork(receiver, await deliver(), { state: "done" });
      await clock.advance(2 * SECOND);
    }
    expect(writes.map(({ figures }) => figures.answers.accepted)).toEqual([5, 5]);
  });

  test("what runs now is said with its event, the longest first, and the count is whole beyond 50", async () => {
    const gate = makeGate();
    const { receiver, store, clock, deliver } = await start({ run: () => gate.passed, concurrency: 120 });
    const begun = clock.now();
    const first = await deliver();
    await untilWork(receiver, first, { state: "running" });
    await clock.advance(SECOND);
    for (let count = 1; count < 53; count += 1) await deliver();
    await clock.advance(BETWEEN_WRITES_MS - SECOND);
    const [status] = await operate(store).readStatuses();
    expect(status?.runningCount).toBe(53);
    expect(status?.running).toHaveLength(50);
    expect(status?.running[0]).toEqual({ handler: "email.sent", eventId: first, since: begun });
    gate.open();
    await clock.advance(BETWEEN_WRITES_MS);
    expect(await operate(store).readStatuses()).toMatchObject([{ runningCount: 0, running: [] }]);
  });

  test("the status has the state, the failures in a row and the last acceptance; a stop removes it", async () => {
    const { receiver, store, clock, deliver, writes } = await start({ silenceAfterMs: 5_000_000 });
    await deliver();
    const acceptedAt = clock.now();
    await post(receiver, makeEvent(), { at: clock.now(), secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" });
    await clock.advance(BETWEEN_WRITES_MS);
    expect(await operate(store).readStatuses()).toMatchObject([
      {
        state: "running",
        role: "both",
        pid: process.pid,
        failuresInARow: 1,
        lastAcceptedAt: acceptedAt,
        silenceAfterMs: 5_000_000,
        waiting: 0,
        reportedAt: clock.now(),
      },
    ]);
    await closeReceiver(receiver, clock);
    expect(writes.at(-1)?.status).toBeUndefined();
  });

  test("what happened since the last write is written at the stop", async () => {
    const { receiver, clock, writes, deliver } = await start();
    await untilWork(receiver, await deliver(), { state: "done" });
    await closeReceiver(receiver, clock);
    expect(writes).toMatchObject([{ figures: { answers: { accepted: 1 } }, status: undefined }]);
    expect([...(writes[0]?.figures.runs.keys() ?? [])]).toEqual(["email.sent"]);
  });

  test("a receiver that never started writes nothing when it stops", async () => {
    const writes: FiguresWrite[] = [];
    const store = decorateStore(() => ({ writeFigures: (write) => Promise.resolve(void writes.push(write)) }));
    await openReceiver({ store }).stop();
    expect(writes).toEqual([]);
  });

  test("figures that could not be written go with the next write, which is logged once until a write succeeds", async () => {
    let fails = true;
    const log = captureLog();
    const busy = new PigeonholeError("store_busy", "no");
    const { receiver, clock, deliver, read, writes } = await start({
      logger: log.logger,
      answer: () => (fails ? Promise.reject(busy) : undefined),
    });
    await untilWork(receiver, await deliver(), { state: "done" });
    await clock.advance(BETWEEN_WRITES_MS);
    await untilWork(receiver, await deliver(), { state: "done" });
    await clock.advance(BETWEEN_WRITES_MS);
    fails = false;
    await clock.advance(BETWEEN_WRITES_MS);
    expect(writes.map(({ figures }) => figures.answers.accepted)).toEqual([1, 2, 2]);
    const { answers, handlers, at } = await read();
    expect([at(answers.accepted), at(handlers[0]?.runs)]).toEqual([2, 2]);
    await clock.advance(HEARTBEAT_MS);
    expect(writes.at(-1)?.figures.answers).toEqual({});
    expect(log.named("figures_not_kept")).toMatchObject([{ level: 40, code: "store_busy" }]);
    fails = true;
    await deliver();
    await clock.advance(BETWEEN_WRITES_MS);
    expect(log.named("figures_not_kept")).toHaveLength(2);
  });
});

describe("runs of handlers", () => {
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
  ])("a run that %s is counted, once", async (_, run, state, outcome) => {
    const { receiver, clock, runs } = await start({ run });
    await postUntil(receiver, { state });
    await clock.advance(2 * BETWEEN_WRITES_MS);
    expect(runs()).toEqual([{ handler: "email.sent", outcome, fromMs: 0, runs: 1 }]);
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
    const { receiver, runs } = await start({
      clock: { ...clock, elapsed: () => elapsed },
      // Before it first waits, and after.
      run: async () => {
        elapsed += Math.floor(tookMs / 2);
        await setImmediate();
        elapsed += Math.ceil(tookMs / 2);
      },
    });
    await postUntil(receiver, { state: "done" });
    await clock.advance(BETWEEN_WRITES_MS);
    expect(runs()).toEqual([{ handler: "email.sent", outcome: "done", fromMs, runs: 1 }]);
  });

  test("a run that takes longer than timeoutMs is counted as failed then", async () => {
    const { receiver, store, clock } = await start({ run: () => new Promise(() => undefined) });
    await postUntil(receiver, { state: "running" });
    await clock.advance(60 * SECOND + BETWEEN_WRITES_MS);
    expect(await operate(store).handlerTimes({})).toMatchObject([
      { runs: 1, failed: 1, buckets: [{ fromMs: 60_000, done: 0, failed: 1 }] },
    ]);
  });

  test("a run that the stop has aborted is not counted, since it runs again", async () => {
    const { receiver, clock, runs } = await start({ run: () => new Promise(() => undefined) });
    await postUntil(receiver, { state: "running" });
    await closeReceiver(receiver, clock);
    expect(runs()).toEqual([]);
  });

  test("the runs of all drains are written", async () => {
    const { receiver, clock, deliver, runs } = await start({ role: "accept" });
    for (const _ of [1, 2]) {
      await deliver();
      expect(await receiver.drain()).toMatchObject({ done: 1 });
    }
    await clock.advance(BETWEEN_WRITES_MS);
    expect(runs()).toEqual([{ handler: "email.sent", outcome: "done", fromMs: 0, runs: 2 }]);
  });

  test("a store that does not answer delays neither handlers nor the stop", async () => {
    const { receiver, clock, runs } = await start({ answer: () => new Promise(() => undefined) });
    for (const waitMs of [BETWEEN_WRITES_MS, 5 * BETWEEN_WRITES_MS]) {
      await postUntil(receiver, { state: "done" });
      await clock.advance(waitMs);
      expect(runs()).toHaveLength(1);
    }
    await passWaits(() => closeReceiver(receiver, clock));
    expect([receiver.state, runs().length]).toEqual(["stopped", 2]);
  });
});
