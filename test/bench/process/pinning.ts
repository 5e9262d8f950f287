import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0", "true"]).status === 0;

/** The core of the load generator. */
export const LOAD_CORE = "1";

/** The cores of the server. */
export function serverCores(twoCores: boolean): string {
  return twoCores ? "0,1" : "0";
}

/** The command line that keeps a program on the given cores; the same one where `taskset` does not work. */
export function pinCommand(cores: string, command: readonly [string, ...string[]]): { file: string; args: string[] } {
  const [file, ...args] = command;
  return canPin ? { file: "taskset", args: ["-c", cores, file, ...args] } : { file, args };
}

/** One line for the report. */
export function describePinning(twoCores: boolean): string {
  if (!canPin) return "nothing pinned (taskset is missing or there is one core): expect noise";
  return `server pinned to core ${serverCores(twoCores)}, load generator to core ${LOAD_CORE} (taskset)`;
}
