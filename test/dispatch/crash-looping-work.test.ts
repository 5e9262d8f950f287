import { setTimeout } from "node:timers/promises";
import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { makeEvent, makeGate, openReceiver, post, storeIn, untilWork, workOf } from "../support/receiver.js";
import { makeCrashedFile } from "../support/crashed-file.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";

test("work in which two processes died runs alone when it runs again after a failure", async () => {
  const crashing = makeEvent({ type: "email.sent" });
  const file = await makeCrashedFile(crashing, "email.sent", 2);
  const clock = fakeClock();
  const receiver = openReceiver({ store: storeIn(file), clock, retry: { initialMs: 10 } });
  let running = 0;
  let most = 0;
  let runs = 0;
  receiver.on("email.sent", async (_event, { attempt }) => {
    runs += 1;
    if (runs === 1) throw new Error("The first run here fails.");
    expect(attempt).toBe(4);
    for (let look = 0; look < 10; look += 1) {
      most = Math.max(most, running);
      await setTimeout(1);
    }
  });
  let others = 0;
  receiver.on("email.opened", async () => {
    running += 1;
    others += 1;
    await setTimeout(1);
    running -= 1;
  });
  await receiver.start();
  // The other handler has work without a pause.
  const end = new AbortController();
  const load = (async () => {
    while (!end.signal.aborted)
      await Promise.all([0, 1, 2].map(() => post(receiver, makeEvent({ type: "email.opened" }))));
  })();
  await untilWork(receiver, crashing.id, { state: "done" }, "email.sent", clock);
  const othersBefore = others;
  await expect.poll(() => others).toBeGreaterThan(othersBefore);
  end.abort();
  await load;
  expect(runs).toBe(2);
  expect(most).toBe(0);
});

test("work in which two processes died begins before other work of its handler that waits here", async () => {
  const crashing = makeEvent({ type: "email.sent" });
  const clock = fakeClock();
  const store = storeIn(await makeCrashedFile(crashing, "email.sent", 2));
  const receiver = openReceiver({ store, clock, concurrency: 1, retry: { initialMs: 10 } });
  const gate = makeGate();
  const runs: string[] = [];
  receiver.on("email.sent", async ({ id }) => {
    runs.push(id);
    if (id !== crashing.id) await gate.passed;
    else if (runs.length === 1) throw new Error("The first run here fails.");
  });
  await receiver.start();
  await expect.poll(() => runs).toEqual([crashing.id]);
  const others = [1, 2, 3].map(() => makeEvent({ type: "email.sent" }));
  for (const event of others) await post(receiver, event);
  await expect.poll(() => runs.length).toBe(2);
  await clock.advance(20);
  gate.open();
  // No round of the maintenance gives back what waits.
  await expect.poll(() => runs.filter((id) => id === crashing.id)).toHaveLength(2);
  await receiver.stop();
});

test("work in which two processes died waits while its handler is paused, and keeps no other work waiting", async () => {
  const crashing = makeEvent({ type: "email.sent" });
  const file = await makeCrashedFile(crashing, "email.sent", 2);
  const inbox = await openInbox(file);
  await inbox.pauseHandler("email.sent", "ann");
  await inbox.close();
  const handlers = { "email.sent": () => undefined, "email.opened": () => undefined };
  const receiver = await startReceiver({ store: storeIn(file) }, handlers);
  await postUntil(receiver, { state: "done" }, { type: "email.opened" });
  expect(await workOf(receiver, crashing.id)).toMatchObject({ state: "pending" });
});
