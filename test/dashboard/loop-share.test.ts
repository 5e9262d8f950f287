import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Pieces } from "#pigeonhole/capture/redact/pieces.js";
import { LoopShare } from "#pigeonhole/dashboard/loop-share.js";

/** A share of a loop whose time goes by with its work alone: `log` has the milliseconds of each turn and each rest. */
function startShare() {
  let now = 0;
  const turns: number[] = [];
  const rests: number[] = [];
  let turnBegan = 0;
  const share = new LoopShare({
    now: () => now,
    rest(ms) {
      turns.push(now - turnBegan);
      rests.push(ms);
      turnBegan = now;
      return setImmediate();
    },
  });
  function* work(name: string, pieces: number, log: string[] = []): Pieces<string> {
    log.push(`${name} begins`);
    for (let piece = 0; piece < pieces; piece += 1) {
      now += 1;
      yield 1;
    }
    log.push(`${name} ends`);
    return name;
  }
  return { share, work, turns, rests };
}

const { signal } = new AbortController();
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

test("long work of all readers together has a quarter of the event loop, in short turns", async () => {
  const { share, work, turns, rests } = startShare();
  const log: string[] = [];
  const names = ["a", "b", "c"];
  const done = names.map((name) => share.run(() => work(name, 100, log), signal));
  // Short works are not done without a rest either.
  const short = Array.from({ length: 100 }, (_, index) =>
    share.run(() => work(String(index), 1), signal).catch(String),
  );
  expect(await Promise.all(done)).toEqual(names);
  await Promise.all(short);
  expect(log).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
  expect(sum(turns)).toBeGreaterThanOrEqual(300 + 97 - 2);
  expect(Math.max(...turns)).toBeLessThanOrEqual(2);
  expect(sum(rests)).toBe(3 * sum(turns));
});

test("work stops once its reader has gone, and does not begin for one who goes while it waits", async () => {
  const { share, work, rests } = startShare();
  const log: string[] = [];
  const gone = new AbortController();
  const first = share.run(() => work("first", 1_000, log), gone.signal);
  const second = share.run(() => work("second", 1, log), gone.signal);
  const third = share.run(() => work("third", 1, log), signal);
  const refused = Promise.allSettled([first, second]);
  await setImmediate();
  gone.abort();
  for (const result of await refused) expect(result).toMatchObject({ reason: { code: "client_gone" } });
  expect(await third).toBe("third");
  expect(log).toEqual(["first begins", "third begins", "third ends"]);
  expect(rests.length).toBeLessThan(20);
});

test("work is refused while too much of it waits", async () => {
  const { share, work } = startShare();
  const running = Array.from({ length: 100 }, () => share.run(() => work("x", 1), signal));
  await expect(share.run(() => work("y", 1), signal)).rejects.toMatchObject({ status: 503, code: "busy" });
  await Promise.all(running);
  await expect(share.run(() => work("z", 1), signal)).resolves.toBe("z");
});
