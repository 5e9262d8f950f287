import { expect, test } from "vitest";
import { makeEvent, makeGate, post } from "../support/receiver.js";
import { startReceiver } from "../support/start-receiver.js";

test("a backlog of large bodies is leased by bytes as well as by number", async () => {
  const gate = makeGate();
  const receiver = await startReceiver({ concurrency: 1 }, { "email.sent": () => gate.passed });
  const text = "x".repeat(1024 * 1024);
  for (let index = 0; index < 24; index += 1) await post(receiver, makeEvent({ data: { text } }));
  const { running, pending } = await receiver.stats();
  expect(running).toBeLessThanOrEqual(21);
  expect(running + pending).toBe(24);
  gate.open();
  await expect.poll(async () => (await receiver.stats()).done).toBe(24);
});
