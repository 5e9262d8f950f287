import { setImmediate } from "node:timers/promises";
import { PigeonholeError } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { makeCrashedFile } from "../support/crashed-file.js";
import { operate } from "../support/operate.js";
import { decorateStore, makeEvent, makeGate, openReceiver, post, tempFile } from "../support/receiver.js";

const [SENT, OPENED] = ["email.sent", "email.opened"] as const;

/** Each process says within ten seconds what it waits for. */
const REPORTED_MS = 11_000;

interface Given {
  places?: number;
  concurrency?: number;
  file?: string;
}

/** A receiver of two handlers whose runs do not end, on a store that can be away. */
async function open({ places = 16, concurrency = 16, file = tempFile() }: Given = {}) {
  const clock = fakeClock();
  const server = { isAway: false };
  const store = decorateStore(
    (real) => ({
      // In each round of the maintenance.
      listPaused: async () => {
        if (server.isAway) throw new PigeonholeError("store_unreachable", "no answer from the server");
        return real.listPaused();
      },
    }),
    file,
  );
  const receiver = openReceiver({ store, clock, concurrency: places });
  const runs = makeGate();
  onTestFinished(() => runs.open());
  for (const type of [SENT, OPENED])
    receiver.on(type, () => runs.passed, { concurrency, key: ({ data }) => String(data["key"]) });
  await receiver.start();
  const send = async (...events: { type: string; key: string }[]): Promise<string[]> => {
    const made = events.map(({ type, key }) => makeEvent({ type, data: { key } }));
    for (const event of made) await post(receiver, event);
    // Runs begin after the answers.
    await setImmediate();
    return made.map(({ id }) => id);
  };
  /** What the inbox says of each event, once the next report is written. */
  const gatesOf = async (ids: readonly string[]) => {
    await clock.advance(REPORTED_MS);
    const shown = await Promise.all(ids.map((id) => receiver.inbox.get(id)));
    return shown.map((event) => event?.handlers.map(({ waitsFor }) => waitsFor));
  };
  return { clock, store, server, runs, receiver, send, gatesOf };
}

test.each([
  ["key", {}, ["key"]],
  ["concurrency", { concurrency: 1 }, ["concurrency"]],
  ["fair_share", { places: 1 }, ["concurrency", "fair_share"]],
] as const)("an event that waits for %s says so in the inbox, and one that runs does not", async (_, given, gates) => {
  const { send, gatesOf, receiver } = await open(given);
  const sent = await send({ type: SENT, key: "a" }, { type: SENT, key: "a" });
  const opened = await send({ type: OPENED, key: "a" });
  const [second = "", other] = gates;
  await expect.poll(() => gatesOf([...sent, ...opened])).toEqual([[null], [second], [other ?? null]]);
  expect((await receiver.stats()).waitsFor).toEqual({ [SENT]: second, ...(other && { [OPENED]: other }) });
});

test("an event of a paused handler says so in the inbox at once", async () => {
  const { clock, store, send, receiver } = await open();
  await operate(store).pauseHandler(SENT, "ann");
  await clock.advance(1_000);
  const [id = ""] = await send({ type: SENT, key: "a" });
  expect((await receiver.inbox.get(id))?.handlers).toMatchObject([{ state: "pending", waitsFor: "paused" }]);
});

test("an event says in the inbox that the store was away, until it has answered", async () => {
  const { server, send, gatesOf, runs } = await open();
  server.isAway = true;
  const [, waits = ""] = await send({ type: SENT, key: "a" }, { type: SENT, key: "a" });
  await expect.poll(() => gatesOf([waits])).toEqual([["store"]]);
  server.isAway = false;
  runs.open();
  await expect.poll(() => gatesOf([waits])).toEqual([[null]]);
});

test("while work that processes died in runs alone, other events say so in the inbox", async () => {
  const crashing = makeEvent({ type: SENT });
  const { gatesOf, send, receiver, runs } = await open({ file: await makeCrashedFile(crashing, SENT, 2) });
  const [other = ""] = await send({ type: OPENED, key: "a" });
  await expect.poll(() => gatesOf([crashing.id, other])).toEqual([[null], ["crash"]]);
  expect(await receiver.stats()).toMatchObject({ waitsFor: { [SENT]: "crash", [OPENED]: "crash" } });
  runs.open();
  await expect.poll(async () => (await receiver.stats()).done).toBe(2);
  expect((await receiver.stats()).waitsFor).toEqual({});
});

test("what a process said that has died is shown no more", async () => {
  const { store, send, gatesOf, clock } = await open({ concurrency: 1 });
  const [, second = ""] = await send({ type: SENT, key: "a" }, { type: SENT, key: "b" });
  await expect.poll(() => gatesOf([second])).toEqual([["concurrency"]]);
  const shownAfter = async (ms: number) => (await operate(store, clock.now() + ms).getEvent(second))?.handlers;
  expect(await shownAfter(60_000)).toMatchObject([{ waitsFor: "concurrency" }]);
  expect(await shownAfter(180_000)).toMatchObject([{ waitsFor: null }]);
});
