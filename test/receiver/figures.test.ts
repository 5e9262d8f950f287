import { type ReceiverOptions, DoNotRetry, PigeonholeError } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { SECOND } from "#pigeonhole/base/duration.js";
import type { FigureRange, FiguresWrite } from "#pigeonhole/store/figures.js";
import { captureLog, closeReceiver, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { decorateStore } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";
import { operate, readFigures } from "../support/operate.js";

const BETWEEN_WRITES_MS = 10 * SECOND;
const HEARTBEAT_MS = 60 * SECOND;

/** A started receiver, and what it writes. */
async function start({
  run = () => undefined,
  answer,
  ...options
}: Partial<ReceiverOptions> & {
  run?: () => unknown;
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
  receiver.on("email.sent", run, { retry: { maxAttempts: 2, initialMs: 1_000_000 } });
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
  return { receiver, store, clock, writes, deliver, read };
}

describe("figures of a process", () => {
  test("answers and runs of ten seconds are written together", async () => {
    const { receiver, clock, writes, deliver, read } = await start();
    const events = [await deliver(), await deliver(), await deliver()];
    await post(receiver, makeEvent(), { at: clock.now(), secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" });
    for (const id of events) await untilWork(receiver, id, { state: "done" });
    expect(writes).toEqual([]);
    await clock.advance(BETWEEN_WRITES_MS);
    expect(writes).toHaveLength(1);
    const { answers, latency, handlers, backlog, at } = await read();
    expect([at(answers.accepted), at(answers.unverified), answers.duplicate]).toEqual([3, 1, undefined]);
    expect(handlers.map(({ handler, runs, failed }) => [handler, at(runs), at(failed)])).toEqual([
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

  test("dead work is no backlog", async () => {
    const { receiver, clock, deliver, read } = await start({ run: () => Promise.reject(new DoNotRetry("no")) });
    await untilWork(receiver, await deliver(), { state: "dead" });
    await clock.advance(BETWEEN_WRITES_MS);
    const { backlog, at } = await read();
    expect(at(backlog.depth)).toBe(0);
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
    const { receiver, store, clock, deliver } = await start({ run: () => gate.passed, concurrency: 60 });
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
