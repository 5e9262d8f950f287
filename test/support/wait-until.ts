import { setTimeout as sleep } from "node:timers/promises";

/** Resolves once `holds` is true; rejects with `what` when that takes longer than `limitMs`. */
export async function waitUntil(what: string, limitMs: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what}`);
    await sleep(20);
  }
}
