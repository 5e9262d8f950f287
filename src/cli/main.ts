import { statSync } from "node:fs";
import { resolve } from "node:path";
import { CommanderError } from "commander";
import { readPackageVersion } from "../base/package-version.js";
import { COMMANDS, FAMILIES } from "./commands.js";
import { buildProgram, NOTHING_TO_DO, type ParsedCommand } from "./frame/build-program.js";
import { usageError } from "./frame/command-error.js";
import { EXIT } from "./frame/exit-code.js";
import { protectSearchTerms } from "./frame/search-terms.js";
import { watchInterruption } from "./frame/interruption.js";
import { createOutput, type Output } from "./frame/output.js";
import { readVariables } from "./values/read-variables.js";

/** Runs the command of the arguments and resolves with the exit code. */
export async function main(process: NodeJS.Process): Promise<number> {
  const { env, stdout, stderr } = process;
  const argv = process.argv.slice(2);
  const version = readPackageVersion();
  const interruption = watchInterruption(process);
  let out = outputAsTyped(process);
  let exitCode: number = EXIT.ok;

  async function runCommand({ command, options, args, isGiven, globals }: ParsedCommand): Promise<void> {
    const { json = false, quiet = false, color, yes = false } = globals;
    out = createOutput({ json, quiet, color, stdout, stderr, env });
    if (globals.cwd !== undefined) changeFolder(process, globals.cwd);
    const { signal } = interruption;
    const commands = COMMANDS.map(({ spec }) => spec);
    const expectInterruption = (): void => interruption.expect();
    const typed = { out, env, cwd: process.cwd(), signal, expectInterruption, yes, stdin: process.stdin };
    const context = { ...typed, version, commands, families: FAMILIES };
    const filled = { ...options, ...readVariables(command.spec, isGiven, context) };
    exitCode = (await command.run({ options: filled, args, context })) ?? EXIT.ok;
  }

  const program = buildProgram({ commands: COMMANDS, families: FAMILIES, version, onCommand: runCommand });
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(protectSearchTerms(argv), { from: "user" });
  } catch (error) {
    exitCode = failure(error, out, interruption.exitCode());
  }
  return interruption.exitCode() ?? exitCode;
}

/** Reports that the output is incomplete, as on a full disk, and returns the exit code of a failure. */
export function reportLostOutput(process: NodeJS.Process, error: NodeJS.ErrnoException, exitCode: number): number {
  const reported = outputAsTyped(process).fail(Object.assign(error, { path: "Standard output" }));
  return exitCode === EXIT.ok ? reported : exitCode;
}

/** Until the command line is parsed, or if it cannot be, errors are printed by the flags that can be found in it. */
function outputAsTyped({ argv, env, stdout, stderr }: NodeJS.Process): Output {
  const words = argv.slice(2);
  const [json, color] = [words.includes("--json"), !words.includes("--no-color")];
  return createOutput({ json, quiet: false, color, stdout, stderr, env });
}

function failure(error: unknown, out: Output, interrupted: number | undefined): number {
  if (error instanceof CommanderError && NOTHING_TO_DO.has(error.code)) return EXIT.ok;
  // A failure caused by Ctrl-C needs no message.
  return interrupted ?? out.fail(error);
}

function changeFolder(process: NodeJS.Process, folder: string): void {
  const path = resolve(folder);
  const seen = statSync(path, { throwIfNoEntry: false });
  if (seen === undefined) throw usageError(`--cwd: the folder ${path} does not exist.`);
  if (!seen.isDirectory()) throw usageError(`--cwd: ${path} is not a folder.`);
  process.chdir(path);
}
