import { findShown } from "#pigeonhole/dashboard/find-shown.js";
import { InTurn } from "#pigeonhole/dashboard/in-turn.js";
import { expect, test } from "vitest";

/** Numbers from 0 on, without an end. */
function list({ limit = 50, cursor = "0" }: { limit?: number; cursor: string | undefined }) {
  const from = Number(cursor);
  const items = Array.from({ length: limit }, (_, index) => from + index);
  return Promise.resolve({ items, nextCursor: String(from + limit) });
}

test("a search whose rows take long ends soon, lets the event loop turn, and can be continued", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const seen: number[] = [];
  const isFound = (row: number): boolean => {
    seen.push(row);
    const until = performance.now() + 25;
    while (performance.now() < until);
    return row === 3;
  };
  const { items, nextCursor } = await findShown({ list, cursor: undefined, isFound });
  clearInterval(timer);
  expect(items).toEqual([3]);
  expect(seen.length).toBeLessThan(20);
  expect(nextCursor).toBe(String(seen.length));
  expect(turns).toBeGreaterThanOrEqual(seen.length - 1);
});

test("calls run one after the other, whatever became of those before, and too many are refused", async () => {
  const turns = new InTurn(3, () => new Error("too many"));
  const log: string[] = [];
  const call = (name: string) => async (): Promise<string> => {
    log.push(`${name} begins`);
    await Promise.resolve();
    log.push(`${name} ends`);
    if (name === "a") throw new Error("broken");
    return name;
  };
  const results = Promise.allSettled(["a", "b", "c", "d"].map((name) => turns.run(call(name))));
  expect((await results).map((each) => (each.status === "fulfilled" ? each.value : String(each.reason)))).toEqual([
    "Error: broken",
    "b",
    "c",
    "Error: too many",
  ]);
  expect(log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  await expect(turns.run(call("e"))).resolves.toBe("e");
});
