import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Job, type JobResult, planJobs } from "./jobs.js";
import { HELP, type TortureOptions, readOptions } from "./options.js";
import { findShimObstacle } from "./shim/shim.js";

const WORKER = fileURLToPath(new URL("run-job.ts", import.meta.url));
const MOST_SHOWN = 5;

/** Shares the jobs among processes, each on one job at a time. */
async function runJobs(jobs: readonly Job[], workers: number, onResult: (result: JobResult) => void): Promise<void> {
  const waiting = [...jobs];
  const runWorker = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const child = fork(WORKER, { stdio: "inherit" });
    try {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) onResult(await runOne(child, job));
    } finally {
      child.kill();
    }
  };
  await Promise.all(Array.from({ length: workers }, runWorker));
}

function runOne(child: ChildProcess, job: Job): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error(`A worker ended during ${JSON.stringify(job)}.`));
    child.once("exit", onExit);
    child.once("message", (result: JobResult) => {
      child.off("exit", onExit);
      resolve(result);
    });
    child.send(job);
  });
}

async function main(options: TortureOptions): Promise<boolean> {
  const obstacle = findShimObstacle();
  if (obstacle !== undefined) throw new Error(`Nothing can be recorded here: ${obstacle}.`);
  const begunAt = performance.now();
  const sums = new Map<string, JobResult>();
  console.log(`seed ${options.seed}, ${options.workers} processes`);
  if (options.scenarios.has("simulation")) {
    const first = options.firstSeed ?? 1;
    console.log(`simulation: seeds ${first} to ${first + options.seeds - 1}`);
  }
  await runJobs(planJobs(options), options.workers, (result) => {
    for (const violation of result.violations.slice(0, MOST_SHOWN))
      console.error(`BROKEN ${result.scenario}: ${violation}`);
    sums.set(result.scenario, add(sums.get(result.scenario), result));
  });
  for (const sum of sums.values()) console.log(describe(sum));
  const broken = [...sums.values()].reduce((count, { violations }) => count + violations.length, 0);
  console.log(`${broken} violations, ${Math.round((performance.now() - begunAt) / 1_000)} s`);
  return broken === 0;
}

function add(before: JobResult | undefined, { scenario, counts, violations, ms }: JobResult): JobResult {
  const sum = { scenario, counts: { ...before?.counts }, violations: [...(before?.violations ?? []), ...violations] };
  for (const [name, count] of Object.entries(counts)) {
    const known = sum.counts[name] ?? 0;
    // A wait is not added up: the longest counts.
    sum.counts[name] = name.endsWith("Ms") ? Math.max(known, count) : known + count;
  }
  return { ...sum, ms: ms + (before?.ms ?? 0) };
}

function describe({ scenario, counts, violations, ms }: JobResult): string {
  const figures = Object.entries(counts).map(([name, count]) => `${name} ${Math.round(count)}`);
  const { seeds } = counts;
  if (seeds !== undefined) figures.push(`${((seeds * 1_000) / ms).toFixed(1)} a second and process`);
  return `${violations.length === 0 ? "kept  " : "BROKEN"} ${scenario}: ${figures.join(", ")}; ${violations.length} violations, ${Math.round(ms / 1_000)} s`;
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") console.log(HELP);
  else if (!(await main(options))) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
