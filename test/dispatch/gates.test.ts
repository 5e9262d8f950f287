import { setImmediate } from "node:timers/promises";
import { PigeonholeError } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { makeCrashedFile } from "../support/crashed-file.js";
import { decorateStore, makeEvent, makeGate, openReceiver, post, storeIn } from "../support/receiver.js";

const [SENT, OPENED] = ["email.sent", "email.opened"] as const;

/** A receiver of two handlers whose runs do not end, on a store that can be away or know a paused handler. */
async function open({ places = 16, concurrency = 16 }) {
  const clock = fakeClock();
  const server = { isAway: false, paused: [] as string[] };
  const store = decorateStore(() => ({
    // In each round of the maintenance.
    listPaused: async () => {
      if (server.isAway) throw new PigeonholeError("store_unreachable", "no answer from the server");
      return server.paused.map((handler) => ({ handler, since: 0, by: "ann" }));
    },
  }));
  const receiver = openReceiver({ store, clock, concurrency: places });
  const gate = makeGate();
  for (const type of [SENT, OPENED])
    receiver.on(type, () => gate.passed, { concurrency, key: ({ data }) => String(data["key"]) });
  await receiver.start();
  const send = async (...events: { type: string; key: string }[]) => {
    for (const { type, key } of events) await post(receiver, makeEvent({ type, data: { key } }), { at: clock.now() });
    // Runs begin after the answers.
    await setImmediate();
  };
  return { clock, server, gate, send, waitsFor: async () => (await receiver.stats()).waitsFor };
}

test("the statistics name what keeps work of each handler waiting", async () => {
  const { clock, server, gate, send, waitsFor } = await open({ concurrency: 2 });
  await send({ type: SENT, key: "a" });
  expect(await waitsFor()).toEqual({});
  await send({ type: SENT, key: "a" }, { type: OPENED, key: "a" });
  expect(await waitsFor()).toEqual({ [SENT]: "key" });
  await send({ type: SENT, key: "b" }, { type: SENT, key: "c" });
  expect(await waitsFor()).toEqual({ [SENT]: "concurrency" });
  server.paused = [SENT];
  await clock.advance(1_000);
  expect(await waitsFor()).toEqual({ [SENT]: "paused" });
  server.isAway = true;
  await clock.advance(1_000);
  Object.assign(server, { isAway: false, paused: [] });
  expect(await waitsFor()).toEqual({ [SENT]: "paused", [OPENED]: "store" });
  gate.open();
  await clock.advance(1_000);
  expect(await waitsFor()).toEqual({});
});

test("the statistics name the fair share of a handler that waits for a place", async () => {
  const { send, waitsFor, gate } = await open({ places: 1 });
  await send({ type: SENT, key: "a" }, { type: SENT, key: "b" }, { type: OPENED, key: "a" });
  expect(await waitsFor()).toEqual({ [SENT]: "concurrency", [OPENED]: "fair_share" });
  gate.open();
});

test("while work that processes died in runs alone, the statistics say so of all handlers", async () => {
  const crashing = makeEvent({ type: SENT });
  const receiver = openReceiver({ store: storeIn(await makeCrashedFile(crashing, SENT, 2)) });
  const gate = makeGate();
  for (const type of [SENT, OPENED]) receiver.on(type, () => gate.passed);
  await receiver.start();
  await post(receiver, makeEvent({ type: OPENED }));
  expect(await receiver.stats()).toMatchObject({
    waitsFor: { [SENT]: "crash", [OPENED]: "crash" },
    pending: 1,
    leased: 1,
  });
  gate.open();
  await expect.poll(async () => (await receiver.stats()).done).toBe(2);
  expect((await receiver.stats()).waitsFor).toEqual({});
});
