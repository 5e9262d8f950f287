import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createReceiver, createSqliteStore } from "pigeonhole";
import { sampleEvent, signDelivery } from "pigeonhole/testing";
import { expect, it, onTestFinished } from "vitest";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";

const SECRET = "whsec_Yp3lT0wJ9vQe6RkXa8sZc2uNf5hGmB1d";

it("nothing runs twice if the machine slept between a renewal of leases and the search for orphans", async () => {
  const clock = createManualClock();
  const inner = createSqliteStore({ file: ":memory:" });
  const store = new Proxy(inner, {
    get(target, name: keyof typeof inner) {
      if (name !== "renew") return target[name];
      return async (...args: Parameters<typeof inner.renew>) => {
        const lost = await target.renew(...args);
        clock.set(clock.now() + 5 * MINUTE);
        return lost;
      };
    },
  });
  const receiver = createReceiver({ secrets: SECRET, store, clock, logger: silentLogger, telemetry: false });
  let runs = 0;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  receiver.on(
    "*",
    () => {
      runs += 1;
      return ended;
    },
    { name: "long", timeoutMs: 30 * MINUTE },
  );
  onTestFinished(async () => {
    end();
    await receiver.stop({ timeoutMs: 0 });
  });
  await receiver.start();
  const body = Buffer.from(JSON.stringify(sampleEvent("email.sent")));
  const headers = signDelivery({ body, secret: SECRET, timestamp: clock.now() });
  const { status } = await receiver.fetch(new Request("http://receiver.test/", { method: "POST", body, headers }));
  expect(status).toBe(200);
  for (let second = 0; second < 45; second += 1) {
    await clock.advance(SECOND);
    await sleep(1);
  }
  expect(runs).toBe(1);
});
