import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { createRandom, seedOfRun } from "../support/seeded-random.js";
import { Cluster } from "./cluster.js";
import { PostgresPair } from "./postgres-pair.js";

export interface FailOver {
  isSynchronous: boolean;
  events: number;
  perSecond: number;
}

/** Three receivers under load, whose database is lost with its machine in the middle of it; the standby takes over. */
export async function failOverUnderLoad({ isSynchronous, events, perSecond }: FailOver): Promise<Cluster> {
  const seed = seedOfRun();
  console.info(`fail-over: PROCESS_TEST_SEED=${seed}`);
  const random = createRandom(seed);
  const pair = await PostgresPair.start({ isSynchronous });
  const cluster = new Cluster({ seed, random });
  onTestFinished(() => cluster.close());
  await cluster.begin(pair);
  const emitting = cluster.emit(events, perSecond);
  await sleep((events / perSecond) * 1_000 * (0.2 + 0.3 * random()));
  await pair.failOver();
  await emitting;
  return cluster;
}
