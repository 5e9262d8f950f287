/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `PROCESS_TEST_SEED`, or a new seed; the test prints it. */
export function seedOfRun(): number {
  const given = process.env["PROCESS_TEST_SEED"];
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

/** One of the things, each as likely as the others. */
export function pick<Thing>(random: () => number, things: readonly Thing[]): Thing {
  const thing = things[Math.floor(random() * things.length)];
  if (thing === undefined) throw new Error("There is nothing to pick from.");
  return thing;
}
