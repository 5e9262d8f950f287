import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { HandlerOptions } from "pigeonhole";
import { type Gate, makeEvent, makeGate, openReceiver, post, untilWork } from "../support/receiver.js";
import { postEvent } from "../support/start-receiver.js";

/** Runs that end one by one when told to, with the most that were ever under way at once. */
class Meter {
  readonly begun: string[] = [];
  most = 0;
  readonly #gates: Gate[] = [];

  get running(): number {
    return this.#gates.length;
  }

  async run(name: string): Promise<void> {
    const gate = makeGate();
    this.begun.push(name);
    this.#gates.push(gate);
    this.most = Math.max(this.most, this.running);
    await gate.passed;
  }

  /** Ends the run that began first. */
  endOne(): void {
    this.#gates.shift()?.open();
  }
}

const postAll = async (receiver: Parameters<typeof post>[0], events: readonly unknown[]) => {
  const answers = await Promise.all(events.map((event) => post(receiver, event)));
  expect(answers.filter(({ outcome }) => outcome !== "accepted")).toEqual([]);
  // Runs begin after the answers.
  await setImmediate();
};

const events = (count: number, type = "email.sent") => Array.from({ length: count }, () => makeEvent({ type }));

test.each([
  { receiver: 3, handler: undefined, most: 3 },
  { receiver: 3, handler: 2, most: 2 },
  { receiver: 3, handler: 1, most: 1 },
  { receiver: 2, handler: 9, most: 2 },
  { receiver: undefined, handler: undefined, most: 16 },
])(
  "$most runs of one handler run at once (receiver $receiver, handler $handler)",
  async ({ receiver: all, handler, most }) => {
    const meter = new Meter();
    const receiver = openReceiver(all === undefined ? {} : { concurrency: all });
    const options: HandlerOptions = handler === undefined ? {} : { concurrency: handler };
    receiver.on("email.sent", ({ id }) => meter.run(id), options);
    await receiver.start();
    const sent = events(20);
    await postAll(receiver, sent);
    for (let ended = 0; ended < 20; ended += 1) {
      await expect.poll(() => meter.running).toBe(Math.min(most, 20 - ended));
      meter.endOne();
    }
    await expect.poll(async () => (await receiver.stats()).done).toBe(20);
    expect(meter.most).toBe(most);
    expect(meter.begun.toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
  },
);

test("the runs of all handlers at once are no more than the receiver allows", async () => {
  const meter = new Meter();
  const receiver = openReceiver({ concurrency: 4 });
  const types = ["email.sent", "email.opened", "email.clicked"] as const;
  for (const type of types) receiver.on(type, ({ id }) => meter.run(id), { concurrency: 3 });
  await receiver.start();
  const all = types.flatMap((type) => events(6, type));
  await postAll(receiver, all);
  for (let ended = 0; ended < 18; ended += 1) {
    await expect.poll(() => meter.running).toBeGreaterThanOrEqual(Math.min(2, 18 - ended));
    meter.endOne();
  }
  await expect.poll(async () => (await receiver.stats()).done).toBe(18);
  expect(meter.most).toBe(4);
});

describe("of several handlers", () => {
  const HANDLERS = ["email.sent", "email.opened", "email.clicked"] as const;

  /** Receiver whose first handler has begun what it can of 20 events, before there is work for another. */
  async function openBusy({ places, handlers, own }: { places: number; handlers: number; own?: number }) {
    const meters = HANDLERS.slice(0, handlers).map((type) => ({ type, meter: new Meter() }));
    const receiver = openReceiver({ concurrency: places });
    const options: HandlerOptions = own === undefined ? {} : { concurrency: own };
    for (const { type, meter } of meters) receiver.on(type, ({ id }) => meter.run(id), options);
    await receiver.start();
    await postAll(receiver, events(20));
    const running = (): number[] => meters.map(({ meter }) => meter.running);
    return { receiver, meters: meters.map(({ meter }) => meter), running };
  }

  test.each([
    { places: 16, handlers: 2, most: 8 },
    { places: 4, handlers: 3, most: 2 },
    { places: 5, handlers: 2, most: 2 },
    { places: 3, handlers: 2, most: 1 },
    { places: 2, handlers: 2, most: 1 },
    { places: 4, handlers: 2, own: 4, most: 2 },
    { places: 4, handlers: 2, own: 1, most: 1 },
  ])(
    "none of several handlers holds more than half of the places, so another one begins at once: %o",
    async ({ most, ...given }) => {
      const { receiver, meters, running } = await openBusy(given);
      await expect.poll(() => running()[0]).toBe(most);
      await postAll(receiver, events(20, "email.opened"));
      await expect.poll(() => running().slice(0, 2)).toEqual([most, most]);
      for (const meter of meters.slice(0, 2)) {
        while (meter.begun.length < 20 || meter.running > 0) {
          const begun = meter.begun.length;
          meter.endOne();
          await expect.poll(() => meter.begun.length).toBe(Math.min(20, begun + 1));
        }
        expect(meter.most).toBe(most);
      }
    },
  );

  test("a free place goes to the handler with the fewest runs, and of those to the one whose turn is longest ago", async () => {
    const { receiver, meters, running } = await openBusy({ places: 4, handlers: 3 });
    await postAll(receiver, events(20, "email.opened"));
    await expect.poll(running).toEqual([2, 2, 0]);
    await postAll(receiver, events(20, "email.clicked"));
    for (const [ended, left] of [
      [0, [1, 2, 1]],
      [1, [2, 1, 1]],
      [0, [1, 2, 1]],
    ] as const) {
      meters[ended]?.endOne();
      await expect.poll(running).toEqual(left);
    }
    await receiver.stop({ timeoutMs: 0 });
  });

  test("several handlers use the only place in turn", async () => {
    const { receiver, meters, running } = await openBusy({ places: 1, handlers: 2 });
    await postAll(receiver, events(20, "email.opened"));
    const turns: number[][] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      turns.push(running());
      const begun = meters.map((meter) => meter.begun.length);
      meters[running().indexOf(1)]?.endOne();
      await expect.poll(() => meters.map((meter) => meter.begun.length)).not.toEqual(begun);
    }
    expect(turns.slice(1)).toEqual([
      [0, 1],
      [1, 0],
      [0, 1],
    ]);
    await receiver.stop({ timeoutMs: 0 });
  });
});

describe("the key of a handler", () => {
  test("two events of one key do not run at once, while other keys continue, also after one has failed", async () => {
    const running = new Map<string, Gate>();
    const log: string[] = [];
    const receiver = openReceiver();
    receiver.on(
      "email.sent",
      async ({ id, data }) => {
        const key = String(data["key"]);
        expect(running.has(key)).toBe(false);
        const gate = makeGate();
        running.set(key, gate);
        log.push(id);
        await gate.passed;
        running.delete(key);
        if (id === "a0") throw new Error("no");
      },
      { key: ({ data }) => String(data["key"]) },
    );
    await receiver.start();
    for (const [index, key] of ["a", "a", "b", "a", "c", "b"].entries())
      await post(receiver, makeEvent({ id: `${key}${index}`, data: { key } }));
    await expect.poll(() => [...running.keys()].toSorted()).toEqual(["a", "b", "c"]);
    expect(log.toSorted()).toEqual(["a0", "b2", "c4"]);
    for (const [key, next, later] of [
      ["b", "b5", "a1"],
      ["a", "a1", "a3"],
      ["a", "a3", ""],
    ] as const) {
      running.get(key)?.open();
      await expect.poll(() => log.includes(next)).toBe(true);
      expect(log).not.toContain(later);
    }
    for (const gate of running.values()) gate.open();
    await expect.poll(async () => (await receiver.stats()).done).toBe(5);
    expect(log).toHaveLength(6);
  });

  test.each([
    [undefined, 5],
    // Also a property name of every object.
    ["__proto__", 1],
  ])("of five events with the key %s, %i run at once", async (key, most) => {
    const meter = new Meter();
    const receiver = openReceiver({ concurrency: 5 });
    receiver.on("email.sent", ({ id }) => meter.run(id), { key: () => key });
    await receiver.start();
    await postAll(receiver, events(5));
    for (let ended = 0; ended < 5; ended += 1) {
      await expect.poll(() => meter.running).toBe(Math.min(most, 5 - ended));
      meter.endOne();
    }
    await expect.poll(async () => (await receiver.stats()).done).toBe(5);
    expect(meter.most).toBe(most);
  });
});

test("a slow handler that takes all it may, with 600 events waiting, does not delay another one", async () => {
  const slow = makeGate();
  const receiver = openReceiver({ concurrency: 2 });
  receiver.on("email.sent", () => slow.passed);
  receiver.on("email.opened", () => undefined);
  await receiver.start();
  await postAll(receiver, events(600));
  const fast = await postEvent(receiver, { type: "email.opened" });
  await untilWork(receiver, fast.id, { state: "done" }, "email.opened");
  slow.open();
  await expect.poll(async () => (await receiver.stats()).done).toBe(601);
});
