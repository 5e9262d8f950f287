import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { AnyEvent, Handler, Store } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { captureLog } from "../support/capture-log.js";
import { closeReceiver, makeEvent, openReceiver, post, workOf } from "../support/receiver.js";
import { makeSlowStore } from "../support/slow-store.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";

describe("stopping", () => {
  test("stop() lets a running handler end, and deliveries are answered 503 meanwhile", async () => {
    const [begun, gate] = [makeGate(), makeGate()];
    const file = tempFile();
    const run = () => (begun.open(), gate.passed);
    const receiver = await startReceiver({ store: storeIn(file) }, { "email.sent": run });
    const event = await postEvent(receiver);
    await begun.passed;
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
    let signal: AbortSignal | undefined;
    const hang: Handler<AnyEvent> = (_, ctx) => (({ signal } = ctx), new Promise(() => undefined));
    const receiver = await startReceiver({ store: storeIn(file), clock }, { "email.sent": hang });
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

  test.each([true, false])(
    "stop() answers deliveries that are being stored (for a handler: %s)",
    async (hasHandler) => {
      const file = tempFile();
      const { store, gate, given } = makeSlowStore(file);
      const ran: string[] = [];
      const log = captureLog();
      const startOn = (of: Store, when: string) => {
        const note: Handler<AnyEvent> = (_, { attempt }) => ran.push(`${when} ${attempt}`);
        return startReceiver({ store: of, logger: log.logger }, hasHandler ? { "email.sent": note } : {});
      };
      const receiver = await startOn(store, "while stopping");
      const event = makeEvent();
      const answered = Promise.all([post(receiver, event), post(receiver, "parked")]);
      await expect.poll(given).toBe(2);
      const stopped = receiver.stop();
      // Turns enough for a stop that would not wait to close the store.
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
      gate.open();
      expect((await answered).map(({ outcome }) => outcome)).toEqual(["accepted", "parked"]);
      await stopped;
      expect(ran).toEqual([]);

      const later = await startOn(storeIn(file), "attempt");
      await expect.poll(() => ran).toEqual(hasHandler ? ["attempt 1"] : []);
      expect((await post(later, event)).outcome).toBe("duplicate");
      expect(log.named("recovered_work_of_a_dead_process")).toEqual([]);
      expect(log.lines.filter(({ level }) => level >= 50)).toEqual([]);
    },
  );

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
    const signals: AbortSignal[] = [];
    const hang: Handler<AnyEvent> = (_, { signal }) => (signals.push(signal), new Promise(() => undefined));
    const receiver = await startReceiver({ store, concurrency: 1, logger: log.logger }, { "email.sent": hang });
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
    const begun = makeGate();
    const hang = () => (begun.open(), new Promise(() => undefined));
    const receiver = await startReceiver({ store: storeIn(file), concurrency: 1 }, { "email.sent": hang });
    for (const event of [makeEvent(), makeEvent(), makeEvent()]) await post(receiver, event);
    await begun.passed;
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
