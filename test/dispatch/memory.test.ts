import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { decorateStore, makeGate, openReceiver } from "../support/receiver.js";
import { postEvent } from "../support/start-receiver.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test.each([
  ["a single handler", ["one"]],
  ["each of two handlers", ["one", "two"]],
])("the event and the body of %s are released while the settlement waits for its commit", async (_, names) => {
  const gate = makeGate();
  let settling = 0;
  const store = decorateStore((real) => ({
    async settle(settlement) {
      settling += 1;
      await gate.passed;
      return real.settle(settlement);
    },
  }));
  const receiver = openReceiver({ store });
  onTestFinished(() => gate.open());
  const held: WeakRef<object>[] = [];
  for (const name of names) {
    receiver.on("email.sent", (event, ctx) => void held.push(new WeakRef(event), new WeakRef(ctx.delivery.rawBody)), {
      name,
    });
  }
  await receiver.start();
  // The first one comes in while the handlers still look for older work.
  for (let round = 1; round <= 2; round += 1) {
    await postEvent(receiver, { data: { text: "x".repeat(100_000) } });
    await expect.poll(() => settling).toBe(names.length * round);
  }
  expect(held).toHaveLength(names.length * 4);
  const stillHeld = () => {
    collectGarbage();
    return held.filter((ref) => ref.deref() !== undefined);
  };
  await expect.poll(stillHeld).toEqual([]);
  gate.open();
  await expect.poll(async () => (await receiver.stats()).done).toBe(names.length * 2);
});
