import { setTimeout as sleep } from "node:timers/promises";

/** Resolves once `holds` is true; rejects with `what` when that takes longer than `limitMs`. */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what}`);
    await sleep(20);
  }
}
