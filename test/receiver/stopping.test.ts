import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { fakeClock } from "pigeonhole/testing";
import { captureLog } from "../support/capture-log.js";
import { closeReceiver, makeEvent, openReceiver, post, workOf } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";

describe("stopping", () => {
  test("stop() lets a running handler end, and deliveries are answered 503 meanwhile", async () => {
    const gate = makeGate();
    const file = tempFile();
    const receiver = openReceiver({ store: storeIn(file) });
    let begun = false;
    receiver.on("email.sent", async () => {
      begun = true;
      await gate.passed;
    });
    await receiver.start();
    const event = await postEvent(receiver);
    await expect.poll(() => begun).toBe(true);
    const stopped = receiver.stop({ timeoutMs: 10_000 });
    expect((await post(receiver, makeEvent())).outcome).toBe("stopping");
    gate.open();
    await stopped;
    const later = await startReceiver({ store: storeIn(file) });
    expect(await workOf(later, event.id)).toMatchObject({ state: "done", attempts: 1 });
  });

  test("stop() aborts what runs longer than timeoutMs, and the next process runs it again", async () => {
    const clock = fakeClock();
    const file = tempFile();
    const receiver = openReceiver({ store: storeIn(file), clock });
    let signal: AbortSignal | undefined;
    receiver.on("email.sent", (_, ctx) => {
      ({ signal } = ctx);
      return new Promise(() => undefined);
    });
    await receiver.start();
    await postEvent(receiver);
    await expect.poll(() => signal).toBeDefined();
    const stopped = receiver.stop({ timeoutMs: 3_000 });
    await clock.advance(2_999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    await stopped;
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: "stopped" });

    const attempts: number[] = [];
    await startReceiver({ store: storeIn(file), clock }, { "email.sent": (_, ctx) => attempts.push(ctx.attempt) });
    await clock.advance(12_000);
    await expect.poll(() => attempts).toEqual([2]);
  });

  test("stop() answers a delivery that is being stored, and its handler runs in the next process", async () => {
    const file = tempFile();
    const gate = makeGate();
    let storing = false;
    const store = decorateStore(
      (real) => ({
        async accept(event) {
          storing = true;
          await gate.passed;
          return real.accept(event);
        },
      }),
      file,
    );
    const ran: string[] = [];
    const log = captureLog();
    const receiver = await startReceiver(
      { store, logger: log.logger },
      { "email.sent": () => ran.push("while stopping") },
    );
    const event = makeEvent();
    const answered = post(receiver, event);
    await expect.poll(() => storing).toBe(true);
    const stopped = receiver.stop();
    gate.open();
    expect((await answered).outcome).toBe("accepted");
    await stopped;
    expect(ran).toEqual([]);

    await startReceiver(
      { store: storeIn(file), logger: log.logger },
      { "email.sent": (_, ctx) => ran.push(`attempt ${ctx.attempt}`) },
    );
    await expect.poll(() => ran).toEqual(["attempt 1"]);
    expect(log.named("recovered_work_of_a_dead_process")).toEqual([]);
    expect(log.lines.filter(({ level }) => level >= 50)).toEqual([]);
  });

  test("stop() answers a delivery that is being stored even if it has no handler", async () => {
    const file = tempFile();
    const gate = makeGate();
    let storing = 0;
    const store = decorateStore(
      (real) => ({
        async accept(event) {
          storing += 1;
          await gate.passed;
          return real.accept(event);
        },
      }),
      file,
    );
    const receiver = await startReceiver({ store });
    const event = makeEvent();
    const answered = Promise.all([post(receiver, event), post(receiver, "parked")]);
    await expect.poll(() => storing).toBe(2);
    const stopped = receiver.stop();
    // Turns enough for a stop that would not wait to close the store.
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    gate.open();
    expect((await answered).map(({ outcome }) => outcome)).toEqual(["accepted", "parked"]);
    await stopped;
    const later = await startReceiver({ store: storeIn(file) });
    expect((await post(later, event)).outcome).toBe("duplicate");
  });

  test("stop() aborts what runs and closes the store even if work cannot be released", async () => {
    let closed = false;
    const store = decorateStore((real) => ({
      release: () => Promise.reject(new Error("no")),
      close() {
        closed = true;
        return real.close();
      },
    }));
    const log = captureLog();
    const receiver = openReceiver({ store, concurrency: 1, logger: log.logger });
    const signals: AbortSignal[] = [];
    receiver.on("email.sent", (_, ctx) => {
      signals.push(ctx.signal);
      return new Promise(() => undefined);
    });
    await receiver.start();
    await Promise.all([post(receiver, makeEvent()), post(receiver, makeEvent())]);
    await expect.poll(() => signals).toHaveLength(1);
    await receiver.stop({ timeoutMs: 1 });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(closed).toBe(true);
    expect(log.named("release_failed")).toHaveLength(1);
  });

  test("stop() may be called twice, and before start()", async () => {
    const receiver = openReceiver();
    const first = receiver.stop();
    expect(receiver.stop()).toBe(first);
    await first;
    await expect(receiver.start()).rejects.toMatchObject({ code: "stopped" });
  });

  test("stop() releases what has not begun, as if it had never been leased", async () => {
    const file = tempFile();
    const gate = makeGate();
    const receiver = openReceiver({ store: storeIn(file), concurrency: 1 });
    let runs = 0;
    receiver.on("email.sent", async () => {
      runs += 1;
      await gate.passed;
    });
    await receiver.start();
    const events = [makeEvent(), makeEvent(), makeEvent()];
    for (const event of events) await post(receiver, event);
    await expect.poll(() => runs).toBe(1);
    await closeReceiver(receiver);
    const db = new Database(file, { readonly: true });
    const rows = db.prepare("SELECT state, started, finished FROM inbox_work ORDER BY seq").all();
    db.close();
    expect(rows).toEqual([
      { state: "pending", started: 1, finished: 1 },
      { state: "pending", started: 0, finished: 0 },
      { state: "pending", started: 0, finished: 0 },
    ]);
  });
});
