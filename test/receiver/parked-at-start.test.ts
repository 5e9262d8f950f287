import { expect, test } from "vitest";
import { fakeClock } from "pigeonhole/testing";
import { context, MINUTE, newEvent, settlements, T } from "../store/conformance/new-event.js";
import { bytesOf, makeEvent, openReceiver, storeIn, tempFile, untilWork } from "../support/receiver.js";

test("retryParkedAtStart leaves an event parked in whose work processes died", async () => {
  const file = tempFile();
  const store = storeIn(file);
  await store.open(context);
  await store.recover(T);
  const parked = { reason: "unknown_type", detail: "no such type" };
  const [crashing, harmless] = [makeEvent(), makeEvent()];
  const work = [{ handler: "unhandled", leaseUntil: T + MINUTE }];
  const stored = await store.accept(newEvent(crashing.id, { body: bytesOf(crashing), work, parked }));
  const [lease] = stored.kind === "stored" ? stored.leases : [];
  await store.settle({ ...settlements.parked(lease ?? expect.unreachable()), reason: "crash_loop" });
  await store.accept(newEvent(harmless.id, { body: bytesOf(harmless), work: [], parked }));
  await store.close();

  const clock = fakeClock(T);
  const receiver = openReceiver({ store: storeIn(file), clock, retryParkedAtStart: true });
  const seen: string[] = [];
  receiver.on("email.sent", ({ id }) => seen.push(id));
  await receiver.start();
  await untilWork(receiver, harmless.id, { state: "done" }, "email.sent", clock);
  expect(seen).toEqual([harmless.id]);
  expect(await receiver.inbox.get(crashing.id)).toMatchObject({
    state: "parked",
    handlers: [
      { handler: "", retryRequestedAt: null },
      { handler: "unhandled", reason: "crash_loop" },
    ],
  });
});
