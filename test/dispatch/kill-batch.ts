import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { readText } from "../support/read-body.js";
import { makeEvent } from "../support/receiver.js";

const script = fileURLToPath(new URL("batch-receiver.mjs", import.meta.url));

/** Runs a receiver until it ends. Gives its batches and the signal that ended it. */
async function run(config: object): Promise<{ batches: string[][]; signal: unknown }> {
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const text = child.stdout === null ? "" : await readText(child.stdout);
  const [, signal] = (await ended) as unknown[];
  const batches = text.split("\n").filter((line) => line !== "");
  return { batches: batches.map((line) => JSON.parse(line) as string[]), signal };
}

/**
 * One event of a batch kills each process that runs it, until it is parked. All others are written once, and none of
 * them runs beside it again.
 */
export async function killInBatch(place: object, readEffects: () => Promise<string[]>): Promise<void> {
  const events = Array.from({ length: 12 }, () => makeEvent());
  const ids = events.map(({ id }) => id);
  const deadly = ids[5] ?? expect.unreachable();
  const first = await run({ place, events, deadly });
  expect(first).toEqual({ batches: [ids], signal: "SIGKILL" });
  expect(await readEffects()).toEqual([]);

  const later: string[][] = [];
  let signals = 0;
  for (let signal: unknown = "SIGKILL"; signal !== null; signals += 1) {
    const next = await run({ place, events: [], deadly });
    later.push(...next.batches);
    ({ signal } = next);
  }
  expect(signals).toBe(4);
  expect(later.filter((batch) => batch.includes(deadly))).toEqual([[deadly], [deadly], [deadly]]);
  expect((await readEffects()).toSorted()).toEqual(ids.filter((id) => id !== deadly).toSorted());
}
