import { COMMANDS } from "./commands.js";
import { flagName } from "./frame/spec.js";

/** The README's table of commands, in Markdown. */
export function commandTable(): string {
  const rows = COMMANDS.map(({ spec }) => {
    const words = Object.entries(spec.arguments ?? {}).map(([name, { optional, variadic }]) => {
      const dots = variadic === true ? "..." : "";
      return optional === true ? `[${name}${dots}]` : `<${name}${dots}>`;
    });
    const flags = Object.entries(spec.options ?? {}).map(([name, option]) => `\`${flagName(name, option)}\``);
    return `| \`${[spec.name, ...words].join(" ")}\` | ${spec.summary} | ${flags.join(" ")} |`;
  });
  return ["| command | what it does | options |", "|---|---|---|", ...rows].join("\n");
}
