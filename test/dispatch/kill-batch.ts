import { expect } from "vitest";
import { makeEvent } from "../support/receiver.js";
import { type Place, startHandler } from "./one-handler.js";

/**
 * One event of a batch kills each process that runs it, until it is parked. All others are written once, and none of
 * them runs beside it again.
 */
export async function killInBatch(place: Place, readEffects: () => Promise<string[]>): Promise<void> {
  const all = Array.from({ length: 12 }, () => makeEvent());
  const ids = all.map(({ id }) => id);
  const deadly = ids[5] ?? expect.unreachable();
  /** Its batches, and the signal that ended it. */
  const run = async (events: object[]) => {
    const child = startHandler("batch", { place, events, deadly });
    const { signal } = await child.ended;
    return { batches: child.lines.map((line) => line["ids"] as string[]), signal };
  };
  expect(await run(all)).toEqual({ batches: [ids], signal: "SIGKILL" });
  expect(await readEffects()).toEqual([]);

  const later: string[][] = [];
  let signals = 0;
  for (let signal: unknown = "SIGKILL"; signal !== null; signals += 1) {
    const next = await run([]);
    later.push(...next.batches);
    ({ signal } = next);
  }
  expect(signals).toBe(4);
  expect(later.filter((batch) => batch.includes(deadly))).toEqual([[deadly], [deadly], [deadly]]);
  expect((await readEffects()).toSorted()).toEqual(ids.filter((id) => id !== deadly).toSorted());
}
