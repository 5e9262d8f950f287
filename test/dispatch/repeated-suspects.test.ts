import { createSqliteStore } from "pigeonhole";
import { expect, test } from "vitest";
import { bytesOf, makeEvent, openReceiver, post, tempFile, untilWork } from "../receiver/harness.js";

const PAST = Date.parse("2026-01-01T09:00:00Z");

/** A file in which two processes have died while the handler ran on the event. */
async function fileWithTwoDeaths(event: { id: string; type: string }, handler: string): Promise<string> {
  const file = tempFile();
  for (let death = 0; death < 2; death += 1) {
    const store = createSqliteStore({ file });
    await store.open({ logger: { info() {}, warn() {}, error() {} } });
    await store.recover(PAST);
    if (death === 0) {
      const work = [{ handler, leaseUntil: PAST + 60_000 }];
      const { id, type } = event;
      const body = bytesOf(event);
      await store.accept({ id, type, test: false, receivedAt: PAST, signedAt: PAST, body, work, parked: undefined });
    } else {
      const request = { handler, now: PAST, leaseUntil: PAST + 60_000, limit: 1, maxBytes: 1_000 };
      const { work } = await store.lease({ ...request, suspectLimit: 1, allowRepeated: true });
      expect(work).toMatchObject([{ crashes: 1 }]);
    }
    await store.close();
  }
  return file;
}

test("work that two processes died in has nothing beside it when it runs again after a failure", async () => {
  const suspect = makeEvent({ type: "email.sent" });
  const file = await fileWithTwoDeaths(suspect, "email.sent");
  const receiver = openReceiver({ store: file, retry: { initialMs: 300 } });
  let running = 0;
  let most = 0;
  let runs = 0;
  const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  receiver.on("email.sent", async (_event, { attempt }) => {
    runs += 1;
    if (runs === 1) throw new Error("The first run here fails.");
    expect(attempt).toBe(4);
    for (let look = 0; look < 80; look += 1) {
      most = Math.max(most, running);
      await rest(5);
    }
  });
  let others = 0;
  receiver.on("email.opened", async () => {
    running += 1;
    others += 1;
    await rest(20);
    running -= 1;
  });
  await receiver.start();
  // The other handler has work without a pause.
  let isOver = false;
  const load = (async () => {
    while (!isOver) await Promise.all([0, 1, 2].map(() => post(receiver, makeEvent({ type: "email.opened" }))));
  })();
  await untilWork(receiver, suspect.id, { state: "done" });
  const othersBefore = others;
  await expect.poll(() => others).toBeGreaterThan(othersBefore);
  isOver = true;
  await load;
  expect(runs).toBe(2);
  expect(most).toBe(0);
});
