import { COMMANDS } from "#pigeonhole/cli/commands.js";
import { type ArgumentSpec, type CommandSpec, type OptionSpec, flagName } from "#pigeonhole/cli/frame/spec.js";

/** `--help` shows all. */
const MAX_EXAMPLES = 2;

/** An option as its row of a table. */
const rowOf = ([name, option]: readonly [string, OptionSpec]): string => {
  const byDefault = defaultOf(option);
  return `| ${flags(name, option)} | ${describe(option)}${byDefault === "" ? "" : ` Default: ${byDefault}.`} |`;
};

const optionsOf = ({ options = {} }: CommandSpec): string[] => Object.entries(options).map(rowOf);

/** The rows of options that several commands have with the same words; of those with one name, the most frequent. */
function sharedRows(): ReadonlySet<string> {
  const found = new Map<string, { name: string; times: number }>();
  for (const [name, option] of COMMANDS.flatMap(({ spec }) => Object.entries(spec.options ?? {}))) {
    const row = rowOf([name, option]);
    found.set(row, { name, times: (found.get(row)?.times ?? 0) + 1 });
  }
  const ordered = [...found].filter(([, { times }]) => times > 1).toSorted(([, a], [, b]) => a.times - b.times);
  return new Set([...new Map(ordered.map(([row, { name }]) => [name, row])).values()].toSorted());
}

/** Every command in Markdown: the options of several, a list, then a section each. */
export function commandReference(): string {
  const shared = sharedRows();
  const links = COMMANDS.map(({ spec: { name } }) => `[${name}](#${name.replace(" ", "-")})`);
  return [
    `${links.join(", ")}.`,
    "### Options of several commands",
    ["| option | |", "|---|---|", ...shared].join("\n"),
    ...COMMANDS.map(({ spec }) => commandSection(spec, shared)),
  ].join("\n\n");
}

function commandSection(spec: CommandSpec, shared: ReadonlySet<string>): string {
  const { name, summary, details, arguments: named = {}, options = {}, examples } = spec;
  const usage = ["pigeonhole", name, ...Object.entries(named).map(([key, argument]) => placeholder(key, argument))];
  const argumentRows = Object.entries(named).map(
    ([key, argument]) => `| \`${placeholder(key, argument)}\` | ${describe(argument)} |`,
  );
  const rows = [...argumentRows, ...optionsOf(spec).filter((row) => !shared.has(row))];
  const others = Object.entries(options).filter((entry) => shared.has(rowOf(entry)));
  const also = others.map(([key, option]) => `\`${flagName(key, option)}\``).join(", ");
  return [
    `### ${name}`,
    ...(argumentRows.length === 0 ? [] : [`\`${usage.join(" ")}\``]),
    escape(details === undefined ? summary : `${summary} ${details}`),
    ...(rows.length === 0 ? [] : [["| option | |", "|---|---|", ...rows].join("\n")]),
    ...(also === "" ? [] : [`Also ${also}.`]),
    [
      "```sh",
      ...examples
        .slice(0, MAX_EXAMPLES)
        .map(([line, what]) => `${line.replace(/^pigeonhole /, "npx pigeonhole ")} # ${what}`),
      "```",
    ].join("\n"),
  ].join("\n\n");
}

function placeholder(name: string, { optional, variadic }: ArgumentSpec): string {
  const dots = variadic === true ? "..." : "";
  return optional === true ? `[${name}${dots}]` : `<${name}${dots}>`;
}

function flags(name: string, option: OptionSpec): string {
  const { short, value, paired, repeat } = option;
  const long = flagName(name, option);
  const names = [
    ...(short === undefined ? [] : [`-${short}`]),
    long,
    ...(paired === true ? [`--no-${long.slice(2)}`] : []),
  ];
  const withValue = value === undefined ? names : names.map((flag) => `${flag} <${value}>`);
  return `${withValue.map((flag) => `\`${flag}\``).join(", ")}${repeat === true ? ", repeatable" : ""}`;
}

function describe({ summary, choices }: OptionSpec | ArgumentSpec): string {
  const listed = choices === undefined ? "" : ` One of ${choices.map((choice) => `\`${choice}\``).join(", ")}.`;
  return `${escape(summary)}${listed}`;
}

/** Keeps signs that Markdown would read as its own. */
function escape(text: string): string {
  return text.replaceAll(/[<*_|[\]]/g, String.raw`\$&`);
}

function defaultOf(option: OptionSpec): string {
  const { default: value, variable } = option;
  const named =
    variable === undefined ? "" : `${value === undefined ? "" : ", or "}\`${variable}\` of the environment or of .env`;
  return `${value === undefined ? "" : `\`${value}\``}${named}`;
}
