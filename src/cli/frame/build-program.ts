import { Argument, Command as Commander, type CommanderError, InvalidArgumentError, Option } from "commander";
import { errorMessage } from "../../base/error-text.js";
import { usageError } from "./command-error.js";
import type { Command } from "./context.js";
import {
  GLOBAL_OPTIONS,
  type GlobalOptions,
  type ArgumentSpec,
  type CommandSpec,
  COMMAND_GROUPS,
  flagName,
  type OptionSpec,
} from "./spec.js";

/** The parsed command line. */
export interface ParsedCommand {
  command: Command;
  options: Record<string, unknown>;
  args: Record<string, unknown>;
  /** Whether an option was given, and not left at its default. */
  isGiven: (name: string) => boolean;
  globals: GlobalOptions;
}

export interface ProgramInput {
  commands: readonly Command[];
  /** Summaries of the first words that have several subcommands. */
  families: Readonly<Record<string, string>>;
  version: string;
  /** Where help is printed. */
  stdout: NodeJS.WriteStream;
  /** Called with the command that was named. */
  onCommand: (parsed: ParsedCommand) => Promise<void>;
}

/** Help or the version was printed as asked for. */
export const NOTHING_TO_DO: ReadonlySet<string> = new Set(["commander.helpDisplayed", "commander.version"]);

/** Builds the parser. For an invalid command line it throws a `CommandError` that names the flag. */
export function buildProgram({ commands, families, version, stdout, onCommand }: ProgramInput): Commander {
  const program = prepare(new Commander("pigeonhole"))
    .description("Receives the webhooks of a mail workspace: capture, inspect, replay, operate.")
    .version(version, "-V, --version", "Prints the version.")
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => void stdout.write(text), getOutHelpWidth: () => stdout.columns })
    .addHelpText("after", `\n${describeRest(commands)}`);
  for (const [name, spec] of Object.entries(GLOBAL_OPTIONS)) program.addOption(toOption(name, spec));
  // Headings are shown in the order in which they first occur.
  const ordered = commands.toSorted((a, b) => groupOrder(a.spec) - groupOrder(b.spec));
  for (const command of ordered) {
    const parent = parentOf(program, command.spec, { commands, families });
    const built = prepare(
      parent.command(command.spec.name.split(" ").at(-1) ?? "", { hidden: command.spec.isRare === true }),
    );
    describe(built, command.spec);
    const hasOwnHelp = command.spec.options?.["help"] !== undefined;
    if (hasOwnHelp) built.helpOption(false);
    built.action(() => {
      if (hasOwnHelp && built.opts()["help"] === true && built.args.length === 0) {
        built.outputHelp();
        return;
      }
      const options = gatherOptions(command.spec, built.opts());
      const args = gatherArguments(command.spec, built.processedArgs);
      const isGiven = (name: string): boolean => built.getOptionValueSource(name) === "cli";
      return onCommand({ command, options, args, isGiven, globals: program.opts<GlobalOptions>() });
    });
  }
  return program;
}

/** What the lists leave out, and where the rest is shown. */
function describeRest(commands: readonly Command[]): string {
  const rare = commands.filter(({ spec }) => spec.isRare === true).map(({ spec }) => spec.name);
  return `pigeonhole <command> --help shows its options and examples. Needed less often: ${rare.join(", ")}.`;
}

function groupOrder(spec: CommandSpec): number {
  return COMMAND_GROUPS.indexOf(spec.group);
}

function parentOf(
  program: Commander,
  spec: CommandSpec,
  { commands, families }: Pick<ProgramInput, "commands" | "families">,
): Commander {
  const [family = "", child] = spec.name.split(" ");
  if (child === undefined) return program;
  const known = program.commands.find((command) => command.name() === family);
  if (known !== undefined) return known;
  const isRare = commands.every(({ spec: each }) => each.isRare === true || !each.name.startsWith(`${family} `));
  return prepare(program.command(family, { hidden: isRare }))
    .description(families[family] ?? "")
    .helpGroup(`${spec.group}:`)
    .helpCommand(false);
}

/** Errors become `CommandError`. Commander itself prints only help. */
function prepare(command: Commander): Commander {
  return command
    .exitOverride((error) => refuse(command, error))
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ styleTitle: (title) => title })
    .helpOption("-h, --help", "Prints help.");
}

function refuse(command: Commander, error: CommanderError): never {
  if (NOTHING_TO_DO.has(error.code)) throw error;
  const path = pathOf(command);
  const message = error.message.replace(/^error: /, "").replace(/\n\(Did you mean/, " (Did you mean");
  // A group of commands without its subcommand.
  if (error.code === "commander.help")
    throw usageError(`${path} needs one of its commands; ${path} --help lists them.`);
  throw usageError(`${message.replace(/[.\s]*$/, "")}. See ${path} --help.`);
}

function pathOf(command: Commander): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function describe(built: Commander, spec: CommandSpec): void {
  const details = spec.details === undefined ? "" : `\n\n${spec.details}`;
  built.description(`${spec.summary}${details}`).summary(spec.summary);
  if (!spec.name.includes(" ")) built.helpGroup(`${spec.group}:`);
  for (const [name, argument] of Object.entries(spec.arguments ?? {})) built.addArgument(toArgument(name, argument));
  for (const [name, option] of Object.entries(spec.options ?? {})) built.addOption(toOption(name, option));
  const examples = spec.examples.map(([line, what]) => `  $ ${line}\n      ${what}`);
  built.addHelpText("after", `\nExamples:\n${examples.join("\n")}\n\nOptions of every command: pigeonhole --help`);
}

function toArgument(name: string, spec: ArgumentSpec): Argument {
  const dots = spec.variadic === true ? "..." : "";
  const argument = new Argument(spec.optional === true ? `[${name}${dots}]` : `<${name}${dots}>`, spec.summary);
  const { parse } = spec;
  if (parse !== undefined) argument.argParser((text, before) => collect(read(parse, text), before, spec.variadic));
  else if (spec.choices !== undefined) argument.choices(spec.choices);
  return argument;
}

function toOption(name: string, spec: OptionSpec): Option {
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const value = spec.value === undefined ? "" : spec.whenBare === undefined ? ` <${spec.value}>` : ` [${spec.value}]`;
  const option = new Option(`${short}${flagName(name, spec)}${value}`, spec.summary + note(spec));
  const parse = spec.parse ?? ((text: string) => text);
  if (spec.choices !== undefined && spec.repeat !== true) option.choices(spec.choices);
  else if (spec.value !== undefined) {
    option.argParser((text, before) => collect(read(parse, text), before, spec.repeat));
  }
  if (spec.whenBare !== undefined) option.preset(spec.whenBare);
  if (spec.default !== undefined) option.default(parse(spec.default), spec.default);
  return option;
}

function note(spec: OptionSpec): string {
  if (spec.variable !== undefined) return ` Or ${spec.variable} of the environment or of .env.`;
  return spec.repeat === true ? " May be given several times." : "";
}

function collect(value: unknown, before: unknown, isList: true | undefined): unknown {
  if (isList !== true) return value;
  return Array.isArray(before) ? [...(before as unknown[]), value] : [value];
}

/** Commander puts the flag's name before the message of an InvalidArgumentError. */
function read(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
}

function gatherOptions(spec: CommandSpec, parsed: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(spec.options ?? {}).map(([name, option]) => {
    if (option.repeat === true) return [name, parsed[name] ?? []];
    return [name, option.value === undefined ? parsed[name] === true : parsed[name]];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function gatherArguments(spec: CommandSpec, parsed: readonly unknown[]): Record<string, unknown> {
  const entries = Object.entries(spec.arguments ?? {}).map(([name, argument], index) => {
    const value = parsed[index];
    return [name, argument.variadic === true ? (value ?? []) : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}
