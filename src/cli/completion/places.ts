import { type ArgumentSpec, type CommandSpec, type OptionSpec, flagName, GLOBAL_OPTIONS } from "../frame/spec.js";

/** A word that completion offers, with its meaning. */
export interface Word {
  text: string;
  summary: string;
}

/** What can follow a command path such as `captures list`. The empty path is the start. */
export interface Place {
  path: string;
  words: Word[];
  /** Values by flag. An empty list stands for files. */
  values: Map<string, readonly string[]>;
  /** True if an argument may be any text, such as a file name. */
  takesFiles: boolean;
}

/** Every place of the command line at which something can be completed. */
export function completionPlaces(specs: readonly CommandSpec[], families: Readonly<Record<string, string>>): Place[] {
  const globals = optionWords(GLOBAL_OPTIONS);
  const standing = [...globals, { text: "--help", summary: "Prints help." }];
  const firsts = new Map(
    specs.map(({ name, summary }): [string, string] => {
      const [first = "", second] = name.split(" ");
      return [first, second === undefined ? summary : (families[first] ?? "")];
    }),
  );
  const start: Place = {
    path: "",
    words: [...[...firsts].map(([text, summary]) => ({ text, summary })), ...standing],
    values: valuesOf(GLOBAL_OPTIONS),
    takesFiles: false,
  };
  const inFamilies = Object.keys(families).map((family): Place => {
    const seconds = specs.filter(({ name }) => name.startsWith(`${family} `));
    const words = seconds.map(({ name, summary }) => ({ text: name.slice(family.length + 1), summary }));
    return { path: family, words: [...words, ...standing], values: valuesOf(GLOBAL_OPTIONS), takesFiles: false };
  });
  return [start, ...inFamilies, ...specs.map((spec) => commandPlace(spec, standing))];
}

function commandPlace(spec: CommandSpec, standing: readonly Word[]): Place {
  const options = spec.options ?? {};
  const args: readonly ArgumentSpec[] = Object.values(spec.arguments ?? {});
  const values = args.flatMap(({ choices, suggestions }) => choices ?? suggestions ?? []);
  return {
    path: spec.name,
    words: [
      ...values.map((text) => ({ text, summary: "" })),
      ...optionWords(options),
      // A command may have its own --help.
      ...standing.filter(({ text }) => text !== "--help" || options["help"] === undefined),
    ],
    values: new Map([...valuesOf(GLOBAL_OPTIONS), ...valuesOf(options)]),
    takesFiles: args.some(({ choices, suggestions }) => choices === undefined && suggestions === undefined),
  };
}

function optionWords(options: Readonly<Record<string, OptionSpec>>): Word[] {
  return Object.entries(options).flatMap(([name, spec]) => {
    const word = { text: flagName(name, spec), summary: spec.summary };
    if (spec.paired !== true) return [word];
    return [word, { text: flagName(name, { negated: true }), summary: `Not: ${spec.summary}` }];
  });
}

function valuesOf(options: Readonly<Record<string, OptionSpec>>): Map<string, readonly string[]> {
  const values = new Map<string, readonly string[]>();
  for (const [name, spec] of Object.entries(options)) {
    if (spec.value === undefined) continue;
    const offered = spec.choices ?? spec.suggestions ?? [];
    values.set(flagName(name, spec), offered);
    if (spec.short !== undefined) values.set(`-${spec.short}`, offered);
  }
  return values;
}
