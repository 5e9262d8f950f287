import { expect, test } from "vitest";
import { PigeonholeError } from "#pigeonhole/base/error.js";
import { whileBusy } from "#pigeonhole/store/while-busy.js";

const busy = new PigeonholeError("store_busy", "held");
const WAIT = { tries: 3, waitMs: 1 };

/** Fails so many times, synchronously, and then gives its number. */
function failing(times: number, error: Error = busy) {
  let calls = 0;
  const work = (): number => {
    calls += 1;
    if (calls <= times) throw error;
    return calls;
  };
  return { work, calls: () => calls };
}

test.each([0, 1, 2])("a call that finds the database busy %i times succeeds", async (times) => {
  const { work } = failing(times);
  expect(await whileBusy(WAIT, work)).toBe(times + 1);
  expect(await whileBusy(WAIT, () => Promise.resolve("done"))).toBe("done");
});

test("the last try passes its error on", async () => {
  const { work, calls } = failing(3);
  await expect(whileBusy(WAIT, work)).rejects.toBe(busy);
  expect(calls()).toBe(3);
});

test("any other error is passed on at once", async () => {
  const full = new PigeonholeError("store_full", "no space");
  const { work, calls } = failing(1, full);
  await expect(whileBusy(WAIT, work)).rejects.toBe(full);
  expect(calls()).toBe(1);
});
