import { MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { expect, test } from "vitest";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";
import { endOfTurn } from "../support/end-of-turn.js";
import { makeGate } from "../support/gate.js";
import { makeEvent, openReceiver, post } from "../support/receiver.js";
import { decorateStore } from "../support/store-in.js";

test("nothing runs twice if the machine slept between a renewal of leases and the search for orphans", async () => {
  const clock = createManualClock();
  let renewals = 0;
  const store = decorateStore((real) => ({
    async renew(...args) {
      const lost = await real.renew(...args);
      renewals += 1;
      clock.set(clock.now() + 5 * MINUTE);
      return lost;
    },
  }));
  const receiver = openReceiver({ store, clock });
  const gate = makeGate();
  let runs = 0;
  const run = (): Promise<void> => ((runs += 1), gate.passed);
  receiver.on("*", run, { name: "long", timeoutMs: 30 * MINUTE });
  await receiver.start();
  expect(await post(receiver, makeEvent())).toMatchObject({ status: 200 });
  for (let second = 0; second < 45; second += 1) {
    await clock.advance(SECOND);
    await endOfTurn();
  }
  expect(renewals).toBeGreaterThan(0);
  expect(runs).toBe(1);
  gate.open();
});
