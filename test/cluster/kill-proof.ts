import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { createRandom } from "../support/seeded-random.js";
import { Cluster } from "./cluster.js";

/** What three processes on one database go through. */
export interface Troubles {
  seed: number;
  events: number;
  /** Events of a second. */
  rate: number;
  /** How often a process is killed. */
  kills: number;
  /** How often the server is restarted. */
  restarts: number;
  /** Processes that are stopped for so long each. */
  sleeps: readonly number[];
  /** Processes whose connections are cut for so long each. */
  cuts: readonly number[];
  /** Longest wait before each, in milliseconds. */
  pauseMs: number;
  isShuffled: boolean;
}

/** Three processes under load, until the last trouble is over and the last event was emitted. */
async function playTroubles(troubles: Troubles): Promise<Cluster> {
  const { seed, kills, restarts, sleeps, cuts, pauseMs } = troubles;
  const random = createRandom(seed);
  const cluster = new Cluster({ seed, random });
  onTestFinished(() => cluster.close());
  await cluster.begin();
  const repeat = (times: number, trouble: () => Promise<void>) => Array.from({ length: times }, () => trouble);
  const planned = [
    ...repeat(restarts, () => cluster.restartServer()),
    ...repeat(kills, () => cluster.killOne()),
    ...sleeps.map((ms) => () => cluster.suspendOne(ms)),
    ...cuts.map((ms) => () => cluster.cutOne(ms)),
  ];
  if (troubles.isShuffled) shuffle(planned, random);
  const emitting = cluster.emit(troubles.events, troubles.rate);
  for (const trouble of planned) {
    await sleep(300 + random() * pauseMs);
    await trouble();
  }
  await emitting;
  return cluster;
}

/** Rejects if an event is lost, or takes effect twice. */
export async function proveCluster(troubles: Troubles): Promise<void> {
  const { seed, kills } = troubles;
  const begunAt = performance.now();
  const cluster = await playTroubles(troubles);
  const result = await cluster.finish();
  const seconds = Math.round((performance.now() - begunAt) / 1_000);
  console.info("kill-proof:", JSON.stringify({ seed, kills, seconds, ...result }));
  expect(result.violations, `seed ${seed}`).toEqual([]);
  // Without these the trouble would have hit nothing.
  expect(result.events).toBeGreaterThanOrEqual(troubles.events * 0.9);
  expect(result.failedAttempts).toBeGreaterThan(0);
  expect(result.recoveries).toBeGreaterThan(0);
}

/**
 * Rejects if an event that was answered is lost, or one has taken effect twice so far. The work of dead processes is
 * left to them, which is over after 15 s.
 */
export async function proveAnswers(troubles: Troubles): Promise<void> {
  const cluster = await playTroubles(troubles);
  expect(await cluster.findLost()).toEqual([]);
  expect(await cluster.findRepeated()).toEqual([]);
  // Without this the kills would have hit nothing.
  expect(await cluster.countInterrupted()).toBeGreaterThan(0);
}

function shuffle(items: unknown[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other], items[last]];
  }
}
