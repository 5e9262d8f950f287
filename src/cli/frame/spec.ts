/** One option of a command, as data: help, parsing and docs/cli.md are generated from it. */
export interface OptionSpec {
  /** What it does, as a phrase. */
  readonly summary: string;
  /** Name of its value in help, such as `url`. A switch has none. */
  readonly value?: string;
  /** One letter. */
  readonly short?: string;
  /** Parses the value. Throws an error whose message says what is expected. @default the text unchanged */
  readonly parse?: (text: string) => unknown;
  /** All values that are allowed. */
  readonly choices?: readonly string[];
  /** The default value as written on the command line. */
  readonly default?: string;
  /** The variable of the environment, or of `.env`, that is read if the flag is not given. */
  readonly variable?: string;
  /** The value for the flag alone. Its value may then be omitted. */
  readonly whenBare?: string;
  /** True if it may be given several times. */
  readonly repeat?: true;
  /** True for a switch that is on and is written `--no-<name>` to turn it off. */
  readonly negated?: true;
}

/** One argument of a command; the last may take the rest. */
export interface ArgumentSpec {
  readonly summary: string;
  readonly parse?: (text: string) => unknown;
  readonly choices?: readonly string[];
  readonly optional?: true;
  readonly variadic?: true;
}

/** The headings of `pigeonhole --help`, in order. */
export const COMMAND_GROUPS = ["Develop", "Operate", "Set up"] as const;

/** One command, as data. Options are written with a dash before each capital: `forwardTo` is `--forward-to`. */
export interface CommandSpec {
  /** As typed, such as `captures list`. */
  readonly name: string;
  readonly group: (typeof COMMAND_GROUPS)[number];
  readonly summary: string;
  /** More text for `--help`, in full sentences. */
  readonly details?: string;
  readonly arguments?: Readonly<Record<string, ArgumentSpec>>;
  /** True for one that `--help` leaves out of its lists: docs/cli.md has it. */
  readonly isRare?: true;
  /** One called `help` is `--help` after an argument; alone, `--help` prints the help of the command. */
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Pairs of a command line and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
}

type Value<Spec> = Spec extends { parse: (text: string) => infer Parsed }
  ? Parsed
  : Spec extends { choices: readonly (infer Choice)[] }
    ? Choice
    : string;

type OptionValue<Spec extends OptionSpec> = Spec extends { value: string }
  ? Spec extends { repeat: true }
    ? Value<Spec>[]
    : Value<Spec> | (Spec extends { default: string } ? never : undefined)
  : boolean;

type ArgumentValue<Spec extends ArgumentSpec> = Spec extends { variadic: true }
  ? Value<Spec>[]
  : Value<Spec> | (Spec extends { optional: true } ? undefined : never);

/** The parsed options of a command: a repeated one is a list, a switch is true or false. */
export type ParsedOptions<Spec extends CommandSpec> = Spec extends { options: infer Options }
  ? { readonly [Name in keyof Options]: Options[Name] extends OptionSpec ? OptionValue<Options[Name]> : never }
  : Record<never, never>;

/** The parsed arguments of a command. */
export type ParsedArguments<Spec extends CommandSpec> = Spec extends { arguments: infer Arguments }
  ? {
      readonly [Name in keyof Arguments]: Arguments[Name] extends ArgumentSpec ? ArgumentValue<Arguments[Name]> : never;
    }
  : Record<never, never>;

/** Keeps the literal types of a spec, from which the types of its options are derived. */
export function defineCommand<const Spec extends CommandSpec>(spec: Spec): Spec {
  return spec;
}

/** An option that takes a value, which help shows as `<value>`. */
export function withValue<const Rest extends Omit<OptionSpec, "value" | "summary"> = Record<never, never>>(
  value: string,
  summary: string,
  rest?: Rest,
): Rest & { value: string; summary: string } {
  return { ...(rest as Rest), value, summary };
}

/** `forwardTo` → `--forward-to`; a negated one `--no-…`. */
export function flagName(name: string, spec?: Pick<OptionSpec, "negated">): string {
  const dashed = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return spec?.negated === true ? `--no-${dashed}` : `--${dashed}`;
}

/** Options of every command; they may be before or after its name. */
export const GLOBAL_OPTIONS = {
  json: { summary: "Prints one JSON object per line, each with schemaVersion; exports and scripts stay as they are." },
  quiet: { short: "q", summary: "Prints results and errors only, no remarks." },
  color: { negated: true, summary: "Prints without colour, like the variable NO_COLOR." },
  cwd: { short: "C", value: "folder", summary: "Works in this folder." },
  yes: { short: "y", summary: "Answers questions with yes." },
} as const satisfies Record<string, OptionSpec>;

export interface GlobalOptions {
  json?: boolean;
  quiet?: boolean;
  color: boolean;
  cwd?: string;
  yes?: boolean;
}
