import type { TortureOptions } from "./options.js";
import { MISTAKES, type Mistake, type PlayName } from "./scenarios/power-loss.js";
import { SIEGES, type SiegeName } from "./scenarios/sieges.js";

/** One piece of work for one process. */
export type Job =
  | { kind: "power_loss"; play: PlayName; seed: number; states: number }
  | { kind: "control"; mistake: Mistake; seed: number }
  | { kind: "siege"; siege: SiegeName; seed: number; kills?: number; seconds?: number }
  | { kind: "simulation"; firstSeed: number; seeds: number };

/** What a job came to. */
export interface JobResult {
  scenario: string;
  counts: Record<string, number>;
  violations: string[];
  /** Seeds of the simulation that break a promise. */
  failedSeeds?: number[];
  ms: number;
  /** Of the job's own process; those that it starts have their own. */
  cpuMs: number;
}

const STATES_PER_JOB = 250;
const KILLS_PER_JOB = 50;
/** So many are lost with a process that dies. */
const SEEDS_PER_JOB = 100;

/** Everything that is to be done, in pieces small enough that the processes end at about the same time. */
export function planJobs(options: TortureOptions): Job[] {
  const { scenarios, seed } = options;
  const jobs: Job[] = [];
  if (scenarios.has("controls")) jobs.push(...MISTAKES.map((mistake): Job => ({ kind: "control", mistake, seed })));
  if (scenarios.has("power_loss")) jobs.push(...planPowerLoss(options));
  for (const siege of Object.keys(SIEGES) as SiegeName[]) {
    if (!scenarios.has(siege)) continue;
    if (siege !== "kills") jobs.push({ kind: "siege", siege, seed, seconds: options.seconds });
    else
      jobs.push(
        ...slices(options.kills, KILLS_PER_JOB).map(({ from, size }): Job => ({
          kind: "siege",
          siege,
          seed: seed + from,
          kills: size,
        })),
      );
  }
  if (scenarios.has("simulation")) {
    const first = options.firstSeed ?? 1;
    jobs.push(
      ...slices(options.seeds, SEEDS_PER_JOB).map(({ from, size }): Job => ({
        kind: "simulation",
        firstSeed: first + from,
        seeds: size,
      })),
    );
  }
  return jobs;
}

/** The name under which the results of jobs of one kind are added up. */
export function scenarioOf(job: Job): string {
  switch (job.kind) {
    case "power_loss":
      return `power loss, ${job.play}`;
    case "control":
      return `control, ${job.mistake}`;
    case "siege":
      return job.siege;
    case "simulation":
      return "simulation";
  }
}

function planPowerLoss({ plays, states, seed }: TortureOptions): Job[] {
  return plays.flatMap((play, index) => {
    const share = Math.floor(states / plays.length) + (index < states % plays.length ? 1 : 0);
    return slices(share, STATES_PER_JOB).map(({ from, size }): Job => ({
      kind: "power_loss",
      play,
      seed: seed + from,
      states: size,
    }));
  });
}

function slices(total: number, most: number): { from: number; size: number }[] {
  const parts: { from: number; size: number }[] = [];
  for (let from = 0; from < total; from += most) parts.push({ from, size: Math.min(most, total - from) });
  return parts;
}
