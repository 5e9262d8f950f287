import { buildProgram } from "#pigeonhole/cli/frame/build-program.js";
import { COMMANDS, FAMILIES } from "#pigeonhole/cli/commands.js";
import { protectSearchTerms } from "#pigeonhole/cli/values/parse-option.js";

/** Names of the commands that a line of a document or of the help calls; rejects where it does not parse. */
export async function parseExample(line: string): Promise<string[]> {
  const named: string[] = [];
  const program = buildProgram({
    commands: COMMANDS,
    families: FAMILIES,
    version: "0",
    stdout: process.stdout,
    onCommand: ({ command }) => Promise.resolve(void named.push(command.spec.name)),
  });
  const words = (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll(/["']/g, ""));
  const own = words.slice(words.indexOf("pigeonhole") + 1);
  await program.parseAsync(protectSearchTerms(own), { from: "user" });
  return named;
}
