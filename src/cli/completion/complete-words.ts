import { type CommandSpec, type OptionSpec, flagName, GLOBAL_OPTIONS } from "../frame/spec.js";

/** A word that completion offers, with its meaning. */
export interface OfferedWord {
  text: string;
  summary: string;
}

const HELP = { help: { summary: "Prints help." } };

/** What can be in place of the last of these words, which is being typed; nothing stands for files. */
export function completeWords(
  given: readonly string[],
  specs: readonly CommandSpec[],
  families: Readonly<Record<string, string>>,
): OfferedWord[] {
  // In bash --flag=value comes as three words.
  const words = given.filter((word) => word !== "=");
  const typed = given.at(-1) === "=" ? "" : (words.pop() ?? "");
  const [, flag, value = typed] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  const path = words.reduce((at, word) => {
    const next = `${at} ${word}`.trim();
    return next in families || specs.some(({ name }) => name === next) ? next : at;
  }, "");
  const spec = specs.find(({ name }) => name === path);
  const options = Object.entries<OptionSpec>({ ...spec?.options, ...GLOBAL_OPTIONS, ...HELP });
  const before = flag ?? words.at(-1);
  const [, valued] = options.find(([name, { value: needed, short }]) => {
    return needed !== undefined && (before === flagName(name) || before === `-${short}`);
  }) ?? [""];
  const offered = valued === undefined ? wordsAt(path, spec, specs, families) : valuesOf(valued);
  const hasFiles =
    valued !== undefined || Object.values(spec?.arguments ?? {}).some((each) => valuesOf(each).length === 0);
  const isOption = typed.startsWith("-") && flag === undefined;
  const all = isOption || (offered.length === 0 && !hasFiles) ? options.flatMap(optionWords) : offered;
  return all.filter(({ text }) => text.startsWith(value));
}

/** The commands after a family, or the values of a command's arguments. */
function wordsAt(
  path: string,
  spec: CommandSpec | undefined,
  specs: readonly CommandSpec[],
  families: Readonly<Record<string, string>>,
): OfferedWord[] {
  if (spec !== undefined) return Object.values(spec.arguments ?? {}).flatMap(valuesOf);
  const depth = path === "" ? 0 : 1;
  const words = specs
    .filter(({ name }) => depth === 0 || name.startsWith(`${path} `))
    .map(({ name, summary }): [string, string] => {
      const text = name.split(" ")[depth] ?? "";
      return [text, depth === 0 ? (families[text] ?? summary) : summary];
    });
  return [...new Map(words)].map(([text, summary]) => ({ text, summary }));
}

function valuesOf({ choices, suggestions }: Pick<OptionSpec, "choices" | "suggestions">): OfferedWord[] {
  return (choices ?? suggestions ?? []).map((text) => ({ text, summary: "" }));
}

function optionWords([name, spec]: [string, OptionSpec]): OfferedWord[] {
  const word = { text: flagName(name, spec), summary: spec.summary };
  if (spec.paired !== true) return [word];
  return [word, { text: flagName(name, { negated: true }), summary: `Not: ${spec.summary}` }];
}
