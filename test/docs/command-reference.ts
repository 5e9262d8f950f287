import { COMMANDS } from "#pigeonhole/cli/commands.js";
import { type ArgumentSpec, type CommandSpec, type OptionSpec, flagName } from "#pigeonhole/cli/frame/spec.js";

/** An option or an argument of a command: what its row names, and the row of a table. */
interface Row {
  name: string;
  flag: string;
  text: string;
}

function rowsOf({ arguments: named = {}, options = {} }: CommandSpec): Row[] {
  const argumentRows = Object.entries(named).map(([name, argument]): Row => {
    const flag = placeholder(name, argument);
    return { name: flag, flag, text: `| \`${flag}\` | ${describe(argument)} |` };
  });
  const optionRows = Object.entries(options).map(([name, option]): Row => {
    const byDefault = defaultOf(option);
    const words = `${describe(option)}${byDefault === "" ? "" : ` Default: ${byDefault}.`}`;
    return { name, flag: flagName(name, option), text: `| ${flags(name, option)} | ${words} |` };
  });
  return [...argumentRows, ...optionRows];
}

/** The rows that several commands have with the same words; of those with one name, the most frequent. */
function sharedRows(specs: readonly CommandSpec[], known: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  const found = new Map<string, { name: string; times: number }>();
  for (const { name, text } of specs.flatMap(rowsOf).filter((row) => !known.has(row.text))) {
    found.set(text, { name, times: (found.get(text)?.times ?? 0) + 1 });
  }
  const ordered = [...found].filter(([, { times }]) => times > 1).toSorted(([, a], [, b]) => a.times - b.times);
  return new Set([...new Map(ordered.map(([text, { name }]) => [name, text])).values()].toSorted());
}

const tableOf = (rows: Iterable<string>): string => ["| option | |", "|---|---|", ...rows].join("\n");

const familyOf = ({ name }: CommandSpec): string => name.replace(/ .*/, "");

/** Every command in Markdown: what several take, a list, then a section each. */
export function commandReference(): string {
  const specs = COMMANDS.map(({ spec }) => spec);
  const shared = sharedRows(specs);
  const links = specs.map(({ name }) => `[${name}](#${name.replace(" ", "-")})`);
  const families = [...new Set(specs.map(familyOf))].map((family) => {
    const own = specs.filter((spec) => familyOf(spec) === family);
    const rows = sharedRows(own, shared);
    const sections = own.map((spec) => commandSection(spec, new Set([...shared, ...rows])));
    const head = rows.size === 0 ? [] : [`### Options of several ${family} commands`, tableOf(rows)];
    return [...head, ...sections].join("\n\n");
  });
  return [`${links.join(", ")}.`, "### Options of several commands", tableOf(shared), ...families].join("\n\n");
}

/** `--help` has more examples than the first. */
function commandSection(spec: CommandSpec, shared: ReadonlySet<string>): string {
  const { name, summary, details, arguments: named = {}, examples } = spec;
  const usage = ["pigeonhole", name, ...Object.entries(named).map(([key, argument]) => placeholder(key, argument))];
  const rows = rowsOf(spec).filter(({ text }) => !shared.has(text));
  const others = rowsOf(spec).filter(({ text }) => shared.has(text));
  return [
    `### ${name}`,
    ...(usage.length === 2 ? [] : [`\`${usage.join(" ")}\``]),
    escape(details === undefined ? summary : `${summary} ${details}`),
    ...(rows.length === 0 ? [] : [tableOf(rows.map(({ text }) => text))]),
    ...(others.length === 0 ? [] : [`Also ${others.map(({ flag }) => `\`${flag}\``).join(", ")}.`]),
    ...examples
      .slice(0, 1)
      .map(([line, what]) => `\`\`\`sh\n${line.replace(/^pigeonhole /, "npx pigeonhole ")} # ${what}\n\`\`\``),
  ].join("\n\n");
}

function placeholder(name: string, { optional, variadic }: ArgumentSpec): string {
  const dots = variadic === true ? "..." : "";
  return optional === true ? `[${name}${dots}]` : `<${name}${dots}>`;
}

function flags(name: string, option: OptionSpec): string {
  const { short, value, repeat } = option;
  const long = flagName(name, option);
  const names = [...(short === undefined ? [] : [`-${short}`]), long];
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
