import { describe, expect, test } from "vitest";
import { fakeClock } from "pigeonhole/testing";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { captureLog } from "../support/capture-log.js";
import { closeReceiver, openReceiver, untilWork, workOf } from "../support/receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";
import type { PausedHandler } from "#pigeonhole/store/paused-handlers.js";
import { postEvent } from "../support/start-receiver.js";

const HANDLER = "email.sent";
const POLL_MS = 1_000;
const REMIND_MS = 6 * 3_600_000;

interface Given {
  paused?: PausedHandler[];
  /** Holds back the answers of the store to deliveries. */
  stored?: Promise<void>;
}

/** A receiver whose handler waits for the gate, on a store that says which handlers are paused. */
function open({ paused = [], stored }: Given = {}) {
  const clock = fakeClock();
  const log = captureLog();
  const gate = makeGate();
  const runs: string[] = [];
  const state = { paused };
  const store = decorateStore((inner) => ({
    listPaused: () => Promise.resolve(state.paused),
    async accept(event) {
      const result = await inner.accept(event);
      await stored;
      return result;
    },
  }));
  const receiver = openReceiver({ clock, store, logger: log.logger });
  receiver.on(
    HANDLER,
    async (event) => {
      runs.push(event.id);
      await gate.passed;
    },
    { concurrency: 1 },
  );
  const send = async (): Promise<string> => {
    const event = await postEvent(receiver);
    return event.id;
  };
  const pause = async (next: PausedHandler[]): Promise<void> => {
    state.paused = next;
    await clock.advance(POLL_MS);
  };
  return { clock, log, gate, runs, receiver, send, pause };
}

const PAUSED = [{ handler: HANDLER, since: "2025-10-09T08:53:20.000Z", by: "ann" }];

describe("a paused handler", () => {
  test("the current run of a paused handler ends, what waits goes back unspent, and nothing new begins", async () => {
    const { clock, gate, runs, receiver, send, pause } = open();
    await receiver.start();
    const [first, second] = [await send(), await send()];
    await expect.poll(() => runs).toEqual([first]);
    await untilWork(receiver, second, { state: "running" });
    await pause(PAUSED);
    await untilWork(receiver, second, { state: "pending", attempts: 0 });
    gate.open();
    await untilWork(receiver, first, { state: "done" });
    const third = await send();
    await clock.advance(5 * POLL_MS);
    expect(await workOf(receiver, third)).toMatchObject({ state: "pending", attempts: 0 });
    expect(runs).toEqual([first]);
    await pause([]);
    await untilWork(receiver, third, { state: "done", attempts: 1 });
    expect(runs).toEqual([first, second, third]);
  });

  test("work that was leased as it was accepted does not begin when the pause comes in between", async () => {
    const accepted = makeGate();
    const { clock, runs, receiver, send, pause } = open({ stored: accepted.passed });
    await receiver.start();
    const sent = send();
    await expect.poll(async () => (await receiver.inbox.list()).items).toMatchObject([{ state: "running" }]);
    await pause(PAUSED);
    accepted.open();
    const id = await sent;
    await clock.advance(POLL_MS);
    await untilWork(receiver, id, { state: "pending", attempts: 0 });
    expect(runs).toEqual([]);
  });

  test("a pause is logged once, again every six hours, and when it ends", async () => {
    const { clock, log, receiver, pause } = open();
    await receiver.start();
    await pause([...PAUSED, { handler: "of another app", since: "1970-01-01T00:00:00.000Z", by: "bob" }]);
    await clock.advance(10 * POLL_MS);
    expect(log.named("handler_paused")).toMatchObject([{ level: 40, handler: HANDLER, by: "ann" }]);
    clock.set(clock.now() + REMIND_MS);
    await clock.advance(POLL_MS);
    expect(log.named("handler_paused")).toHaveLength(2);
    await pause([]);
    expect(log.named("handler_resumed")).toMatchObject([{ level: 30, handler: HANDLER }]);
  });

  test("a drain leaves the work of a paused handler", async () => {
    const { runs, receiver, send, pause } = open();
    await receiver.start();
    await pause(PAUSED);
    const id = await send();
    await receiver.drain();
    expect(await workOf(receiver, id)).toMatchObject({ state: "pending", attempts: 0 });
    expect(runs).toEqual([]);
  });
});

test("a handler is paused and resumed from outside, and stays paused over a restart", async () => {
  const file = tempFile();
  const clock = fakeClock();
  const runs: string[] = [];
  const start = async () => {
    const receiver = openReceiver({ store: storeIn(file), clock });
    receiver.on(HANDLER, ({ id }) => void runs.push(id));
    await receiver.start();
    return receiver;
  };
  const first = await start();
  const inbox = await openInbox(file);
  try {
    await inbox.pauseHandler(HANDLER, "ann");
    await closeReceiver(first, clock);
    const second = await start();
    const event = await postEvent(second);
    expect((await second.stats()).paused).toMatchObject([{ handler: HANDLER, by: "ann" }]);
    expect(runs).toEqual([]);
    await inbox.resumeHandler(HANDLER);
    await untilWork(second, event.id, { state: "done" }, HANDLER, clock);
    expect(runs).toEqual([event.id]);
  } finally {
    await inbox.close();
  }
});
