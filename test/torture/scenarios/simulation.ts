import { BUILT, runSeed } from "../../simulation/run-seed.js";

/** Runs seeds of the simulation, all of them also after a failure; gives those that break a promise. */
export async function runSimulation({
  firstSeed,
  seeds,
}: {
  firstSeed: number;
  seeds: number;
}): Promise<{ seed: number; message: string }[]> {
  const failures: { seed: number; message: string }[] = [];
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    await runSeed(seed, BUILT).catch((error: unknown) =>
      failures.push({ seed, message: error instanceof Error ? error.message : String(error) }),
    );
  }
  return failures;
}
