import { test } from "vitest";
import { seedOfRun } from "../support/seeded-random.js";
import { findPostgresPrograms, isSkippedWithout } from "../support/tools.js";
import { proveCluster } from "./kill-proof.js";

/** The long form, which takes two minutes, is run by hand: CLUSTER_KILLS=10 npx vitest run test/cluster. */
const KILLS = Number(process.env["CLUSTER_KILLS"] ?? 3);
const FORM =
  KILLS > 3
    ? { events: KILLS * 200, rate: 25, restarts: 3, sleeps: [10_000, 10_000, 10_000], cuts: [8_000, 8_000, 8_000] }
    : { events: 300, rate: 40, restarts: 1, sleeps: [5_000], cuts: [1_500] };
const TROUBLES = KILLS + FORM.restarts + FORM.sleeps.length + FORM.cuts.length;

test.skipIf(isSkippedWithout(findPostgresPrograms()))(
  "three processes on a database, under kills, sleeps, restarts, cuts and lost answers, lose and repeat nothing",
  { timeout: 180_000 + TROUBLES * 30_000 },
  async () => {
    const seed = seedOfRun();
    console.info(`kill-proof: PROCESS_TEST_SEED=${seed}`);
    // What a process that is dead at a restart has leased is left to it for 20 s: the short form begins with it.
    const isShuffled = KILLS > 3;
    await proveCluster({ seed, kills: KILLS, ...FORM, pauseMs: isShuffled ? 4_000 : 600, isShuffled });
  },
);
