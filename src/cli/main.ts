import { statSync } from "node:fs";
import { resolve } from "node:path";
import { CommanderError } from "commander";
import { readPackageVersion } from "../base/package-version.js";
import { COMMANDS, FAMILIES } from "./commands.js";
import { buildProgram, NOTHING_TO_DO, type ParsedCommand } from "./frame/build-program.js";
import { usageError, EXIT } from "./frame/command-error.js";
import type { HostProcess, CommandContext } from "./frame/context.js";
import { protectSearchTerms } from "./values/parse-option.js";
import { watchInterruption } from "./frame/interruption.js";
import { createOutput, type Output } from "./frame/output.js";
import { errorMessage } from "../base/error-text.js";
import type { CommandSpec } from "./frame/spec.js";
import { readVariable } from "./values/secret-option.js";

/** Runs the command of the arguments and resolves with the exit code. */
export async function main(host: HostProcess): Promise<number> {
  const { env, stdin, stdout, stderr } = host;
  const argv = host.argv.slice(2);
  const version = readPackageVersion();
  const interruption = watchInterruption(host);
  let out = outputAsTyped(host);
  let exitCode: number = EXIT.ok;

  async function runCommand({ command, options, args, isGiven, globals }: ParsedCommand): Promise<void> {
    const { json = false, quiet = false, color, yes = false } = globals;
    out = createOutput({ json, quiet, color, stdout, stderr, env });
    if (globals.cwd !== undefined) changeFolder(host, globals.cwd);
    const { signal } = interruption;
    const expectInterruption = (): void => interruption.expect();
    const typed = { out, env, cwd: host.cwd(), signal, expectInterruption, yes };
    const context = { ...typed, stdin, stdout, stderr, version };
    const filled = { ...options, ...readVariables(command.spec, isGiven, context) };
    exitCode = (await command.run({ options: filled, args, context })) ?? EXIT.ok;
  }

  const program = buildProgram({ commands: COMMANDS, families: FAMILIES, version, stdout, onCommand: runCommand });
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(protectSearchTerms(argv), { from: "user" });
  } catch (error) {
    exitCode = failure(error, out, interruption.exitCode());
  }
  return interruption.exitCode() ?? exitCode;
}

/** Reports that the output is incomplete, as on a full disk, and returns the exit code of a failure. */
export function reportLostOutput(host: HostProcess, error: NodeJS.ErrnoException, exitCode: number): number {
  const reported = outputAsTyped(host).fail(Object.assign(error, { path: "Standard output" }));
  return exitCode === EXIT.ok ? reported : exitCode;
}

/** Until the command line is parsed, or if it cannot be, errors are printed by the flags that can be found in it. */
function outputAsTyped({ argv, env, stdout, stderr }: HostProcess): Output {
  const words = argv.slice(2);
  const [json, color] = [words.includes("--json"), !words.includes("--no-color")];
  return createOutput({ json, quiet: false, color, stdout, stderr, env });
}

function failure(error: unknown, out: Output, interrupted: number | undefined): number {
  if (error instanceof CommanderError && NOTHING_TO_DO.has(error.code)) return EXIT.ok;
  // A failure caused by Ctrl-C needs no message.
  return interrupted ?? out.fail(error);
}

function changeFolder(host: HostProcess, folder: string): void {
  const path = resolve(host.cwd(), folder);
  const seen = statSync(path, { throwIfNoEntry: false });
  if (seen === undefined) throw usageError(`--cwd: the folder ${path} does not exist.`);
  if (!seen.isDirectory()) throw usageError(`--cwd: ${path} is not a folder.`);
  host.chdir(path);
}

/** Values of options that are not given, from their variables. The error for one that cannot be read names it. */
function readVariables(
  { options = {} }: CommandSpec,
  isGiven: (name: string) => boolean,
  context: CommandContext,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, { variable, parse = (text: string) => text }] of Object.entries(options)) {
    const text = variable === undefined || isGiven(name) ? undefined : readVariable(variable, context);
    if (text === undefined) continue;
    try {
      values[name] = parse(text);
    } catch (error) {
      throw usageError(`${variable}: ${errorMessage(error)}`);
    }
  }
  return values;
}
