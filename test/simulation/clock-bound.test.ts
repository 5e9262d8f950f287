import { expect, it } from "vitest";
import { BUILT, runSeed } from "./run-seed.js";

// In each the wall clock is days ahead for a while, and contact events are recorded or called meanwhile.
it.fails.each([34, 65, 81])(
  "contact events do not wait for the time that a clock ahead has shown: world %i; the due times of calls are not clamped yet",
  { timeout: 60_000 },
  async (seed) => {
    await expect(runSeed(seed, BUILT, { boundsClockSteps: true })).resolves.toBeDefined();
  },
);
