import { fileURLToPath } from "node:url";
import { makeFolder } from "./folder.js";
import type { CliOptions } from "./run-cli.js";
import { type Running, startProgram } from "./start-program.js";

/** What is run: the built program, by plain node. */
export const BIN = fileURLToPath(new URL("../../dist/cli/bin.js", import.meta.url));

export interface ProcessOptions extends CliOptions {
  /** Arguments of node itself. */
  node?: readonly string[];
}

/**
 * Starts the built program in a nearly empty environment, for what only a process has: signals, pipes, a terminal, exit
 * codes.
 */
export function startCli(
  args: readonly string[],
  { node = [], cwd = makeFolder(), ...more }: ProcessOptions = {},
): Running {
  const { PATH = "" } = process.env;
  return startProgram({ command: process.execPath, args: [...node, BIN, ...args], cwd, base: { PATH }, ...more });
}
