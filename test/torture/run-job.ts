import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SHOWN_IN } from "./controls.js";
import { type Job, type JobResult, scenarioOf } from "./jobs.js";
import { cutPower } from "./scenarios/power-loss.js";
import { runSimulation } from "./scenarios/simulation.js";
import { besiege } from "./scenarios/sieges.js";
import { buildShim } from "./shim/shim.js";

/** States of one recording: many recordings find more than many states of one. */
const STATES_PER_RECORDING = 125;
/** A mistake must show within so many states. */
const WITHIN_STATES = 400;

/** The body of a worker process: one job per message, one result per job. */
process.on("message", (job: Job) => {
  void run(job).then((result) => process.send?.(result));
});

async function run(job: Job): Promise<JobResult> {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-shim-"));
  const begunAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const times = (): Pick<JobResult, "ms" | "cpuMs"> => {
    const { user, system } = process.cpuUsage(cpuBefore);
    return { ms: performance.now() - begunAt, cpuMs: (user + system) / 1_000 };
  };
  try {
    const result = await runIn(job, folder);
    return { ...result, ...times() };
  } catch (error) {
    const violations = [`ended with ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
    return { scenario: scenarioOf(job), counts: {}, violations, ...times() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runIn(job: Job, folder: string): Promise<Omit<JobResult, "ms" | "cpuMs">> {
  const scenario = scenarioOf(job);
  switch (job.kind) {
    case "power_loss": {
      const shim = buildShim(folder);
      const { byLoss, violations, ...counts } = await cutPower({
        ...job,
        shim,
        statesPerRecording: STATES_PER_RECORDING,
      });
      return { scenario, counts: { ...counts, ...byLoss }, violations };
    }
    case "control": {
      const { play, shows } = SHOWN_IN[job.mistake];
      const limits = { states: WITHIN_STATES, statesPerRecording: 100, stopEarly: true };
      const { mistake, seed } = job;
      const found = await cutPower({ shim: buildShim(folder), play, seed, mistake, ...limits });
      const isFound = found.violations.some((violation) => shows.test(violation));
      return { scenario, counts: { states: found.states }, violations: isFound ? [] : ["the mistake was not found"] };
    }
    case "siege": {
      const { violations, ...counts } = await besiege(job.siege, { ...job, shim: buildShim(folder) });
      return { scenario, counts, violations };
    }
    case "simulation": {
      const failures = await runSimulation(job);
      return {
        scenario,
        counts: { seeds: job.seeds },
        violations: failures.map(({ message }) => message),
        failedSeeds: failures.map(({ seed }) => seed),
      };
    }
  }
}
