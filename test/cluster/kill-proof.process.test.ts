import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createRandom, seedOfRun } from "../support/seeded-random.js";
import { findPostgresPrograms } from "../support/tools.js";
import { Cluster } from "./cluster.js";

/** The long form, which takes two minutes, is run by hand: CLUSTER_KILLS=10 npx vitest run test/cluster. */
const KILLS = Number(process.env["CLUSTER_KILLS"] ?? 3);
const IS_LONG = KILLS > 3;
const EVENTS = IS_LONG ? KILLS * 200 : 300;
const RESTARTS = IS_LONG ? 3 : 1;
const CUTS = IS_LONG ? 3 : 1;
const SLEEPS = IS_LONG ? 3 : 1;
const ASLEEP_MS = IS_LONG ? 10_000 : 5_000;
const CUT_MS = IS_LONG ? 8_000 : 1_500;
const TROUBLES = KILLS + RESTARTS + CUTS + SLEEPS;

test.skipIf(findPostgresPrograms() === undefined && process.env["CI"] === undefined)(
  "three processes on a database, under kills, sleeps, restarts, cuts and lost answers, lose and repeat nothing",
  { timeout: 60_000 + TROUBLES * 30_000 },
  async () => {
    const seed = seedOfRun();
    console.info(`kill-proof: PROCESS_TEST_SEED=${seed}`);
    const random = createRandom(seed);
    const cluster = new Cluster({ seed, random });
    onTestFinished(() => cluster.close());
    await cluster.begin();
    const begunAt = performance.now();
    const repeat = (times: number, trouble: () => Promise<void>) => Array.from({ length: times }, () => trouble);
    const troubles = [
      ...repeat(RESTARTS, () => cluster.restartServer()),
      ...repeat(KILLS, () => cluster.killOne()),
      ...repeat(SLEEPS, () => cluster.suspendOne(ASLEEP_MS)),
      ...repeat(CUTS, () => cluster.cutOne(CUT_MS)),
    ];
    // What a process that is dead at a restart has leased is left to it for 20 s: the short form begins with it.
    if (IS_LONG) shuffle(troubles, random);
    const emitting = cluster.emit(EVENTS, IS_LONG ? 25 : 40);
    for (const trouble of troubles) {
      await sleep(300 + random() * (IS_LONG ? 4_000 : 600));
      await trouble();
    }
    await emitting;
    const result = await cluster.finish();
    const seconds = Math.round((performance.now() - begunAt) / 1_000);
    console.info("kill-proof:", JSON.stringify({ seed, kills: KILLS, seconds, ...result }));
    expect(result.violations, `seed ${seed}`).toEqual([]);
    // Without these the trouble would have hit nothing.
    expect(result.events).toBeGreaterThanOrEqual(EVENTS * 0.9);
    expect(result.failedAttempts).toBeGreaterThan(0);
    expect(result.recoveries).toBeGreaterThan(0);
  },
);

function shuffle(items: unknown[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other], items[last]];
  }
}
