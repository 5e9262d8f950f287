import { isoTime } from "#pigeonhole/base/iso-time.js";
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Store, PigeonholeError, createReceiver, createSqliteStore } from "pigeonhole";
import { TEST_SECRET, fakeClock, signDelivery } from "pigeonhole/testing";
import { serve } from "../support/serve.js";
import { connect, head } from "../support/raw-client.js";
import { captureLog } from "../support/capture-log.js";
import { closeReceiver, makeEvent, openReceiver, post } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";
import { listen } from "../support/listen.js";
import { errorOf } from "../support/error-of.js";
import { operatedBy } from "../support/operate.js";

const MINUTE = 60_000;

describe("start()", () => {
  test("start() called twice starts once, and each event runs once", async () => {
    let opens = 0;
    const store = decorateStore((real) => ({ open: (context) => ((opens += 1), real.open(context)) }));
    const receiver = openReceiver({ store });
    let runs = 0;
    receiver.on("email.sent", () => (runs += 1));
    const first = receiver.start();
    expect(receiver.start()).toBe(first);
    await first;
    await receiver.start();
    await postUntil(receiver, { state: "done" });
    expect([opens, runs]).toEqual([1, 1]);
  });

  test("start() that fails closes the store, so that another receiver can open the file", async () => {
    const file = tempFile();
    const failing = decorateStore(
      (real) => ({
        async recover(now) {
          await real.recover(now);
          throw new PigeonholeError("store_busy", "no");
        },
      }),
      file,
    );
    const receiver = openReceiver({ store: failing });
    expect((await errorOf(() => receiver.start())).code).toBe("store_busy");
    expect(receiver.state).toBe("new");

    const log = captureLog();
    const options = { store: storeIn(file), logger: log.logger };
    await postUntil(await startReceiver(options, { "email.sent": () => undefined }), { state: "done" });
    expect(log.named("another_process_runs_handlers_on_this_store")).toEqual([]);
  });

  test("start() after one that failed registers the handlers once, also for work that waits in the store", async () => {
    const file = tempFile();
    const before = await startReceiver({ store: storeIn(file), role: "accept" }, { "email.sent": () => undefined });
    await Promise.all(Array.from({ length: 4 }, () => post(before, makeEvent())));
    await before.stop();
    let fails = true;
    const store = decorateStore(
      (real) => ({
        recover: (now) => (fails ? Promise.reject(new PigeonholeError("store_busy", "no")) : real.recover(now)),
      }),
      file,
    );
    const receiver = openReceiver({ store });
    let running = 0;
    let most = 0;
    const run = async (): Promise<void> => {
      most = Math.max(most, (running += 1));
      await wait(2);
      running -= 1;
    };
    receiver.on("email.sent", run, { concurrency: 1 });
    await errorOf(() => receiver.start());
    fails = false;
    await receiver.start();
    await Promise.all(Array.from({ length: 4 }, () => post(receiver, makeEvent())));
    await expect.poll(() => receiver.stats()).toMatchObject({ done: 8 });
    expect(most).toBe(1);
  });

  test("start() does not fail because a warning could not be written after handlers ran", async () => {
    let asked = 0;
    const store = decorateStore((real) =>
      operatedBy(real, (operator) => ({
        overview: () =>
          (asked += 1) === 1 ? Promise.reject(new PigeonholeError("store_busy", "no")) : operator.overview(),
      })),
    );
    const log = captureLog();
    const receiver = await startReceiver({ store, logger: log.logger });
    expect(receiver.state).toBe("running");
    await expect.poll(() => log.named("counts_failed")).toHaveLength(1);
  });

  test("start() keeps how often each handler may run, and does not fail if that cannot be written", async () => {
    const kept: unknown[] = [];
    const refused = decorateStore((real) => ({
      keepPolicies: (policies) => {
        kept.push(policies);
        return kept.length === 1
          ? Promise.reject(new PigeonholeError("store_busy", "no"))
          : real.keepPolicies(policies);
      },
    }));
    const log = captureLog();
    const receiver = openReceiver({ store: refused, logger: log.logger });
    receiver.on("email.sent", () => undefined);
    receiver.on("*", () => undefined, { name: "audit", retry: { maxAttempts: 3 } });
    await receiver.start();
    expect(receiver.state).toBe("running");
    expect(kept).toEqual([
      [
        { handler: "email.sent", maxAttempts: 14, types: ["email.sent"] },
        { handler: "audit", maxAttempts: 3, types: ["*"] },
      ],
    ]);
    await expect.poll(() => log.named("policies_not_kept")).toMatchObject([{ code: "store_busy" }]);
  });

  test("start() refuses a Store that another receiver uses, and does not change it", async () => {
    const store = createSqliteStore({ file: ":memory:" });
    const first = await startReceiver({ store });
    const second = openReceiver({ store });
    expect(await errorOf(() => second.start())).toMatchObject({ code: "invalid_option" });
    await second.stop();
    expect((await post(first, makeEvent())).outcome).toBe("accepted");
    await first.stop();
    const third = await startReceiver({ store });
    expect(third.state).toBe("running");
  });
});

describe("stop()", () => {
  test("stop() during start() opens nothing that is not open yet", async () => {
    const asked = makeGate();
    const calls: string[] = [];
    const store = decorateStore((real) => ({
      open: (context) => (calls.push("open"), real.open(context)),
      recover: (now) => (calls.push("recover"), real.recover(now)),
      close: () => (calls.push("close"), real.close()),
    }));
    const receiver = openReceiver({ store, secrets: () => asked.passed.then(() => [TEST_SECRET]) });
    const started = receiver.start();
    await wait(5);
    const stopped = receiver.stop();
    await Promise.all([started, stopped]);
    asked.open();
    await wait(5);
    expect([receiver.state, calls]).toEqual(["stopped", []]);
  });

  test("stop() waits for a store that is opening, closes it, and runs no handler", async () => {
    const file = tempFile();
    const before = await startReceiver({ store: storeIn(file) }, { "email.sent": () => new Promise(() => undefined) });
    await post(before, makeEvent());
    await closeReceiver(before);

    const opening = makeGate();
    let closed = 0;
    const store = decorateStore(
      (real) => ({
        open: async (context) => (await opening.passed, real.open(context)),
        close: () => ((closed += 1), real.close()),
      }),
      file,
    );
    const receiver = openReceiver({ store });
    let runs = 0;
    receiver.on("email.sent", () => (runs += 1));
    const started = receiver.start();
    await wait(5);
    const stopped = receiver.stop();
    opening.open();
    await Promise.all([started, stopped]);
    expect([runs, closed, receiver.state]).toEqual([0, 1, "stopped"]);
  });

  test("stop() answers 503 to a delivery whose body comes slowly on a kept connection, and disconnects it", async () => {
    const receiver = await startReceiver();
    const server = await serve(receiver.middleware());
    const body = JSON.stringify(makeEvent());
    const client = await connect(server.port);
    const signature = Object.entries(signDelivery({ body, secret: TEST_SECRET, timestamp: Date.now() }));
    const lines = signature.map(([name, value]) => `${name}: ${value}`);
    client.write(`${head(`content-length: ${body.length}`, ...lines)}${body.slice(0, 5)}`);
    await wait(20);
    await receiver.stop();
    client.write(body.slice(5));
    expect(await client.answer()).toMatchObject({ status: 503, body: "stopping", headers: { connection: "close" } });
    await client.closed;
  });

  test("stop() leaves no timer, and nothing that delays the close of the server", async () => {
    const clock = fakeClock();
    const receiver = await startReceiver({ clock, silenceAfterMs: 1_000 }, { "email.sent": () => undefined });
    const server = createServer(receiver.middleware());
    await listen(server);
    await post(receiver, makeEvent());
    await receiver.stop();
    // The wait for running handlers may be left: the machine's timers keep no process.
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("stats()", () => {
  test("stats() answers in every state, with the last figures after the store is closed", async () => {
    const clock = fakeClock();
    const receiver = openReceiver({ clock, store: storeIn(tempFile()) });
    let runs = 0;
    receiver.on("email.sent", () => {
      runs += 1;
      throw new Error("not now");
    });
    expect(await receiver.stats()).toMatchObject({ state: "new", countedAt: null, pending: 0, lagMs: 0 });
    const started = receiver.start();
    expect(await receiver.stats()).toMatchObject({ state: "starting" });
    await started;
    await post(receiver, makeEvent());
    await expect.poll(() => runs).toBe(1);
    await expect.poll(() => receiver.stats()).toMatchObject({ state: "running", retrying: 1 });
    const countedAt = isoTime(clock.now());
    await receiver.stop();
    await clock.advance(MINUTE);
    const stopped = await receiver.stats();
    expect(stopped).toMatchObject({ state: "stopped", countedAt, retrying: 1, oldestPendingAgeMs: MINUTE });
    expect(stopped.answers.accepted).toBe(1);
  });

  test("stats() rejects while the store of a running receiver does not answer, and state still answers", async () => {
    let isBroken = false;
    const broken = (): Promise<never> => Promise.reject(new PigeonholeError("store_failed", "no"));
    const store: Store = decorateStore((real) =>
      operatedBy(real, (operator) => ({ overview: () => (isBroken ? broken() : operator.overview()) })),
    );
    const receiver = createReceiver({ secrets: TEST_SECRET, store, telemetry: false, logger: captureLog().logger });
    await receiver.start();
    isBroken = true;
    expect((await errorOf(() => receiver.stats())).code).toBe("store_failed");
    expect(receiver.state).toBe("running");
    await receiver.stop();
    expect(receiver.state).toBe("stopped");
  });
});
