import { parseArgs } from "node:util";
import { PLAYS, type PlayName } from "./scenarios/power-loss.js";
import { SIEGES, type SiegeName } from "./scenarios/sieges.js";

export const HELP = `Usage: npm run torture -- [options]
  --states N    states after a power cut, all plays together (10000)
  --kills N     SIGKILLs of the scenario kills (1000)
  --seconds N   length of each of the other sieges, in seconds (120)
  --seeds N     seeds of the simulation, from 1 on or from --seed on (2000)
  --seed N      seed of everything (the time of day)
  --workers N   processes at once (2)
  --only LIST   some of: power_loss, controls, kills, disk_faults, clock_steps, soak, simulation, or one play: ${Object.keys(PLAYS).join(", ")}
Ends with 1 when a promise was broken.`;

export const SCENARIOS = ["power_loss", "controls", ...(Object.keys(SIEGES) as SiegeName[]), "simulation"] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface TortureOptions {
  states: number;
  kills: number;
  seconds: number;
  seeds: number;
  seed: number;
  /** Undefined unless it was given: the simulation counts from 1. */
  firstSeed: number | undefined;
  workers: number;
  scenarios: ReadonlySet<ScenarioName>;
  plays: readonly PlayName[];
}

/** Reads the command line; throws with what is wrong. */
export function readOptions(args: readonly string[]): TortureOptions | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      states: { type: "string", default: "10000" },
      kills: { type: "string", default: "1000" },
      seconds: { type: "string", default: "120" },
      seeds: { type: "string", default: "2000" },
      seed: { type: "string" },
      workers: { type: "string", default: "2" },
      only: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const firstSeed = values.seed === undefined ? undefined : readNumber("seed", values.seed);
  return {
    states: readNumber("states", values.states),
    kills: readNumber("kills", values.kills),
    seconds: readNumber("seconds", values.seconds),
    seeds: readNumber("seeds", values.seeds),
    seed: firstSeed ?? Date.now() % 1_000_000_000,
    firstSeed,
    workers: Math.max(1, readNumber("workers", values.workers)),
    ...readOnly(values.only),
  };
}

function readOnly(only: string | undefined): Pick<TortureOptions, "scenarios" | "plays"> {
  const allPlays = Object.keys(PLAYS) as PlayName[];
  if (only === undefined) return { scenarios: new Set(SCENARIOS), plays: allPlays };
  const names = only.split(",");
  const plays = allPlays.filter((play) => names.includes(play));
  const scenarios = new Set(SCENARIOS.filter((name) => names.includes(name)));
  const unknown = names.filter((name) => !allPlays.some((play) => play === name) && !SCENARIOS.some((s) => s === name));
  if (unknown.length > 0) throw new Error(`--only does not know ${unknown.join(", ")}.`);
  if (plays.length > 0) scenarios.add("power_loss");
  return { scenarios, plays: plays.length > 0 ? plays : allPlays };
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, got ${text}.`);
}
