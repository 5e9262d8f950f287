import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { TestDatabase } from "../support/postgres-server.js";
import { makeEvent } from "../support/receiver.js";
import { createNode, dropAfterTest, postInTurn } from "./shared-nodes.js";

/**
 * Delivers all events to the first of three nodes with 4 places each. Resolves with the runs of each node, and the time
 * from the first delivery to the end of the last run.
 */
export async function shareSlowWork(
  database: TestDatabase,
  { events: total, runMs }: { events: number; runMs: number },
): Promise<{ runs: number[]; ms: number }> {
  dropAfterTest(database);
  const runs = [0, 0, 0];
  let lastEnd = 0;
  const nodes = runs.map((_, index) => {
    const node = createNode(database, { concurrency: 4 });
    node.on("email.sent", async () => {
      runs[index] = (runs[index] ?? 0) + 1;
      await sleep(runMs);
      lastEnd = performance.now();
    });
    return node;
  });
  for (const node of nodes) await node.start();
  const [first] = nodes;
  if (first === undefined) return expect.unreachable();
  const events = Array.from({ length: total }, () => makeEvent());
  const begun = performance.now();
  expect(new Set(await postInTurn([first], events))).toEqual(new Set([200]));
  await expect.poll(async () => (await first.stats()).done, { timeout: 120_000, interval: 200 }).toBe(total);
  expect(runs.reduce((sum, each) => sum + each, 0)).toBe(total);
  return { runs, ms: lastEnd - begun };
}
