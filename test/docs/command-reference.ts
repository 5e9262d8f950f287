import { COMMANDS } from "#pigeonhole/cli/commands.js";
import { type ArgumentSpec, type CommandSpec, type OptionSpec, flagName } from "#pigeonhole/cli/frame/spec.js";

/** Every command in Markdown: a list, then a section each, with its call, what it does, its options and examples. */
export function commandReference(): string {
  const rows = COMMANDS.map(
    ({ spec: { name, summary } }) => `| [${name}](#${name.replace(" ", "-")}) | ${escape(summary)} |`,
  );
  const list = ["| command | what it does |", "|---|---|", ...rows].join("\n");
  return [list, ...COMMANDS.map(({ spec }) => commandSection(spec))].join("\n\n");
}

function commandSection(spec: CommandSpec): string {
  const { name, summary, details, arguments: named = {}, options = {}, examples } = spec;
  const usage = ["pigeonhole", name, ...Object.entries(named).map(([key, argument]) => placeholder(key, argument))];
  const argumentRows = Object.entries(named).map(
    ([key, argument]) => `| \`${placeholder(key, argument)}\` | ${describe(argument)} |  |`,
  );
  const optionRows = Object.entries(options).map(
    ([key, option]) => `| ${flags(key, option)} | ${describe(option)} | ${defaultOf(option)} |`,
  );
  const rows = [...argumentRows, ...optionRows];
  return [
    `### ${name}`,
    `\`${usage.join(" ")}\``,
    escape(details === undefined ? summary : `${summary} ${details}`),
    ...(rows.length === 0 ? [] : [["| argument or option | meaning | default |", "|---|---|---|", ...rows].join("\n")]),
    [
      "```sh",
      ...examples.map(([line, what]) => `${line.replace(/^pigeonhole /, "npx pigeonhole ")} # ${what}`),
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
