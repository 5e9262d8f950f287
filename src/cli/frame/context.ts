import type { Output } from "./output.js";
import type { ParsedArguments, CommandSpec, ParsedOptions } from "./spec.js";

/** The process that runs the program; tests pass one that only collects what is written. */
export interface HostProcess extends Pick<
  NodeJS.Process,
  "argv" | "env" | "stdin" | "stdout" | "stderr" | "cwd" | "chdir"
> {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/** What every command gets. */
export interface CommandContext extends Readonly<Pick<HostProcess, "env" | "stdin" | "stdout" | "stderr">> {
  readonly out: Output;
  /** Where relative paths start: `-C` or the working directory. */
  readonly cwd: string;
  /** Aborted by Ctrl-C and SIGTERM. A command that serves ends then; one that waits rejects with its reason. */
  readonly signal: AbortSignal;
  /** For a command whose usual end is Ctrl-C or SIGTERM: its own exit code counts then. */
  expectInterruption(): void;
  /** `--yes`: questions are answered with yes. */
  readonly yes: boolean;
  /** Of this package. */
  readonly version: string;
}

/** A command's own parsed options and arguments, and the context. */
export interface CommandInput<Spec extends CommandSpec> {
  readonly options: ParsedOptions<Spec>;
  readonly args: ParsedArguments<Spec>;
  readonly context: CommandContext;
}

/** Does the work. Returns one of `EXIT`, or the exit code of an app that it has started; nothing means success. */
export type RunCommand<Spec extends CommandSpec> = (input: CommandInput<Spec>) => Promise<number | void>;

/** A command with a loader of its code, which is loaded only when it is run. */
export interface Command {
  readonly spec: CommandSpec;
  readonly run: (input: CommandInput<CommandSpec>) => Promise<number | void>;
}

/** Connects a spec with the function that does its work, whose module is loaded when it is needed. */
export function command<Spec extends CommandSpec>(spec: Spec, load: () => Promise<RunCommand<Spec>>): Command {
  return {
    spec,
    run: async (input) => (await load())(input),
  };
}
