import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Job, type JobResult, planJobs, scenarioOf } from "./jobs.js";
import { HELP, type TortureOptions, readOptions } from "./options.js";
import { findShimObstacle } from "./shim/shim.js";
import { Summary } from "./summary.js";

const WORKER = fileURLToPath(new URL("run-job.ts", import.meta.url));
const MAX_SHOWN = 5;
/** How far a long run is. */
const TELL_AFTER_S = 60;

/** Shares the jobs among processes, each on one job at a time. A process that dies in one is replaced. */
async function runJobs(jobs: readonly Job[], workers: number, onResult: (result: JobResult) => void): Promise<void> {
  const waiting = [...jobs];
  const runWorker = async (): Promise<void> => {
    let child: ChildProcess | undefined;
    try {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
        if (child?.connected !== true)
          child = fork(WORKER, { stdio: "inherit", execArgv: [...process.execArgv, "--max-semi-space-size=32"] });
        onResult(await runOne(child, job));
      }
    } finally {
      child?.kill();
    }
  };
  await Promise.all(Array.from({ length: workers }, runWorker));
}

function runOne(child: ChildProcess, job: Job): Promise<JobResult> {
  const begunAt = performance.now();
  return new Promise((resolve) => {
    const onExit = (): void => {
      child.off("message", onResult);
      const violations = [`The process died during ${JSON.stringify(job)}.`];
      resolve({ scenario: scenarioOf(job), counts: {}, violations, ms: performance.now() - begunAt, cpuMs: 0 });
    };
    const onResult = (result: JobResult): void => {
      child.off("exit", onExit);
      resolve(result);
    };
    child.once("exit", onExit);
    child.once("message", onResult);
    child.send(job);
  });
}

async function main(options: TortureOptions): Promise<boolean> {
  const jobs = planJobs(options);
  // The simulation has a disk of its own.
  const obstacle = jobs.some(({ kind }) => kind !== "simulation") ? findShimObstacle() : undefined;
  if (obstacle !== undefined) throw new Error(`Nothing can be recorded here: ${obstacle}.`);
  const begunAt = performance.now();
  const seconds = (): number => (performance.now() - begunAt) / 1_000;
  console.log(`seed ${options.seed}, ${options.workers} processes`);
  if (options.scenarios.has("simulation")) {
    const first = options.firstSeed ?? 1;
    console.log(`simulation: seeds ${first} to ${first + options.seeds - 1}`);
  }
  const summary = new Summary();
  let toldAt = 0;
  await runJobs(jobs, options.workers, (result) => {
    for (const violation of result.violations.slice(0, MAX_SHOWN))
      console.error(`BROKEN ${result.scenario}: ${violation}`);
    summary.add(result);
    if (seconds() - toldAt < TELL_AFTER_S) return;
    toldAt = seconds();
    console.log(`${summary.jobs} of ${jobs.length} jobs, ${summary.violations} violations, ${Math.round(toldAt)} s`);
  });
  for (const line of summary.lines(seconds())) console.log(line);
  return summary.violations === 0;
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") console.log(HELP);
  else if (!(await main(options))) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
