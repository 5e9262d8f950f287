import { findShown } from "#pigeonhole/web/find-shown.js";
import { InTurn } from "#pigeonhole/dashboard/delivery-log.js";
import { SideBySide } from "#pigeonhole/web/side-by-side.js";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeGate } from "../support/receiver.js";

/** Numbers from 0 on; a cursor is the number before which a page begins. */
const listUpTo =
  (end: number) =>
  ({ limit, cursor }: { limit: number; cursor: string | null | undefined }) => {
    const from = Number(cursor ?? 0);
    const items = Array.from({ length: Math.min(limit, end - from) }, (_, index) => from + index);
    const next = from + items.length;
    const nextCursor = next < end ? String(next) : null;
    return Promise.resolve({ items, nextCursor, cursors: items.map((row) => String(row + 1)) });
  };

/** Time that goes by only as the function that is returned says. */
function stopTime(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}

test("a search whose rows take long ends soon, lets the event loop turn, and can be continued", async () => {
  const pass = stopTime();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const seen: number[] = [];
  const look = (row: number): Promise<number | undefined> => {
    seen.push(row);
    pass(25);
    return Promise.resolve(row === 3 ? row : undefined);
  };
  const { items, nextCursor } = await findShown({ list: listUpTo(1_000), cursor: undefined, look });
  isOver = true;
  expect(items).toEqual([3]);
  expect(seen.length).toBeLessThan(20);
  expect(nextCursor).toBe(String(seen.length));
  expect(turns).toBeGreaterThanOrEqual(seen.length - 1);
});

test("a search ends within a page of rows that begin to take long, and goes on behind the row it ended at", async () => {
  const pass = stopTime();
  const [seen, found, tookMs]: [number[], number[], number[]] = [[], [], []];
  const look = (row: number): Promise<number | undefined> => {
    seen.push(row);
    if (row >= 75) pass(100);
    return Promise.resolve(row % 10 === 0 ? row : undefined);
  };
  let cursor: string | null = null;
  do {
    const startedAt = performance.now();
    const page: { items: number[]; nextCursor: string | null } = await findShown({
      list: listUpTo(120),
      cursor,
      look,
    });
    tookMs.push(performance.now() - startedAt);
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  const all = Array.from({ length: 120 }, (_, index) => index);
  expect(seen).toEqual(all);
  expect(found).toEqual(all.filter((row) => row % 10 === 0));
  expect(Math.max(...tookMs)).toBe(300);
});

test("a search ends at the row with which its page is full", async () => {
  const list = listUpTo(120);
  const first = await findShown({ list, cursor: undefined, look: (row) => Promise.resolve(row) });
  expect(first.items).toHaveLength(50);
  const rest = await findShown({ list, cursor: first.nextCursor, look: (row) => Promise.resolve(row) });
  expect(rest.items.at(0)).toBe(50);
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

test("calls run side by side, some of one person and more of all, whatever becomes of them", async () => {
  const places = new SideBySide(3, () => new Error("too many"), 2);
  const gate = makeGate();
  const runAs = (name: string) => places.run(() => Promise.resolve(name), name);
  const waiting = ["ann", "ann"].map((name) => places.run(() => gate.passed, name));
  await expect(runAs("ann")).rejects.toThrow("too many");
  await expect(places.run(() => Promise.reject(new Error("broken")), "bob")).rejects.toThrow("broken");
  await expect(runAs("bob")).resolves.toBe("bob");
  waiting.push(places.run(() => gate.passed, "bob"));
  await expect(runAs("eve")).rejects.toThrow("too many");
  gate.open();
  await Promise.all(waiting);
  await expect(runAs("ann")).resolves.toBe("ann");
});
