import { statSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import type { Alarm } from "pigeonhole";
import { expect, test } from "vitest";
import { makeEvent, post, tempFile } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";

test("inbox.backup writes a private copy while deliveries arrive, and a receiver can start with it", async () => {
  const file = tempFile();
  const alarms: Alarm[] = [];
  const receiver = await startReceiver({ store: file, onAlarm: (alarm) => alarms.push(alarm) });
  const before = await postEvent(receiver);
  const copy = `${file}.copy`;
  const copying = receiver.inbox.backup(copy);
  const beside = [makeEvent(), makeEvent(), makeEvent()];
  for (const event of beside) expect(await post(receiver, event)).toMatchObject({ outcome: "accepted" });
  expect(await copying).toEqual({ bytes: statSync(copy).size });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(await post(receiver, makeEvent())).toMatchObject({ outcome: "accepted" });
  expect(alarms).toEqual([]);

  const restored = await startReceiver({ store: copy });
  expect(await post(restored, before)).toMatchObject({ outcome: "duplicate" });
});

test("a writer thread that ends on its own raises an alarm and causes 503, and stop() still ends", async () => {
  const alarms: unknown[] = [];
  let thread: Worker | undefined;
  process.once("worker", (worker) => (thread = worker));
  const receiver = await startReceiver({ store: tempFile(), onAlarm: (alarm) => alarms.push(alarm) });
  expect((await post(receiver, makeEvent())).outcome).toBe("accepted");
  await thread?.terminate();
  expect((await post(receiver, makeEvent())).outcome).toBe("store_unavailable");
  expect(alarms).toEqual([expect.objectContaining({ kind: "store_unavailable", code: "store_failed" })]);
  await receiver.stop({ timeoutMs: 100 });
  expect(receiver.state).toBe("stopped");
});
