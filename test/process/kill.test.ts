import { it } from "vitest";
import { seedOfRun } from "../support/seeded-random.js";
import { proveKills } from "./kill-proof.js";

/** PROCESS_TEST_KILLS: more in the long form, fewer where the test runs on each Node. */
const KILLS = Number(process.env["PROCESS_TEST_KILLS"] ?? 8);

it(
  "a receiver that is killed under load loses nothing and repeats no effect",
  { timeout: 180_000 + KILLS * 10_000 },
  async () => {
    const seed = seedOfRun();
    console.info(`kill.test: PROCESS_TEST_SEED=${seed}`);
    await proveKills({ seed, kills: KILLS });
  },
);
