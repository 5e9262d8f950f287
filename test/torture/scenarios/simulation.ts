import { BUILT, runSeed } from "../../simulation/run-seed.js";

/** Runs seeds of the simulation; gives what is wrong, a text for each seed that breaks a promise. */
export async function runSimulation({ firstSeed, seeds }: { firstSeed: number; seeds: number }): Promise<string[]> {
  const wrong: string[] = [];
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    await runSeed(seed, BUILT).catch((error: unknown) =>
      wrong.push(error instanceof Error ? error.message : String(error)),
    );
  }
  return wrong;
}
