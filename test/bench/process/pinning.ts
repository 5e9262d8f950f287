import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0", "true"]).status === 0;

/** The core of the load generator. */
export const LOAD_CORE = "1";

/** The core of the server, and the cores of one that may use both. */
export const SERVER_CORE = "0";
export const BOTH_CORES = "0,1";

/** The command line that keeps a program on the given cores; the same one where `taskset` does not work. */
export function pinCommand(cores: string, command: readonly [string, ...string[]]): { file: string; args: string[] } {
  const [file, ...args] = command;
  return canPin ? { file: "taskset", args: ["-c", cores, file, ...args] } : { file, args };
}

/** One line for the report. */
export function describePinning(): string {
  if (!canPin) return "nothing pinned (taskset is missing or there is one core): expect noise";
  return `servers pinned to core ${SERVER_CORE}, or ${BOTH_CORES} where the name ends in -2; load generator to core ${LOAD_CORE}`;
}
