import { test } from "vitest";
import { BUILT, runSeed } from "../simulation/run-seed.js";

test("the promises hold in the worlds of the even seeds to 50", async () => {
  for (let seed = 2; seed <= 50; seed += 2) await runSeed(seed, BUILT);
});
