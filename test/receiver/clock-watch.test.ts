import { expect, test } from "vitest";
import type { Store } from "pigeonhole/store";
import { fakeClock } from "pigeonhole/testing";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { Alarms } from "#pigeonhole/receiver/alarms.js";
import { ClockWatch, createRememberingClock } from "#pigeonhole/receiver/clock-watch.js";
import type { KnownTimes } from "#pigeonhole/store/store.js";

test("a delivery that one process saw counts for another, also when the first is killed", async () => {
  const fake = fakeClock();
  const clock = createRememberingClock(fake);
  const times: KnownTimes = {};
  const store = {
    noteTimes: (given: KnownTimes) => Promise.resolve(Object.assign(times, given)),
    restartWaits: () => Promise.resolve(0),
  } as unknown as Store<unknown>;
  const watch = (): ClockWatch => {
    const alarms = new Alarms({ clock, logger: silentLogger, hook: undefined });
    return new ClockWatch({ store, clock, logger: silentLogger, alarms });
  };
  const [accepting, working] = [watch(), watch()];
  for (const each of [accepting, working]) await each.start();
  await fake.advance(2 * 3_600_000);
  const signedAt = clock.now();
  accepting.sawDelivery({ createdAt: new Date(signedAt).toISOString(), test: false }, signedAt);
  await fake.advance(60_000);
  expect(await working.trustedTimes()).toMatchObject({ byDeliveries: signedAt });
});
