import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "#pigeonhole/cli/commands.js";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { runCli } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

/** What bash offers for the last of these words. */
function offered(script: string, words: readonly string[]): string[] {
  const file = join(makeFolder(), "completion.bash");
  writeFileSync(file, script);
  const line =
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pigeonhole 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"';
  const output = execFileSync("bash", ["-c", line, "bash", file, "pigeonhole", ...words], { encoding: "utf8" });
  return output.split("\n").filter((word) => word !== "");
}

test("completion in bash offers every operation of the API, and every resource", async () => {
  const { stdout } = await runCli(["completion", "bash"]);
  const calls = listOperations().map(({ resource, name }) => `${resource}.${name}`);
  const words = offered(stdout, ["api", ""]).filter((word) => !word.startsWith("-"));
  expect(words).toEqual([...calls, ...new Set(listOperations().map(({ resource }) => resource))]);
  expect(offered(stdout, ["api", "--query", "limit=1", "contacts.d"])).toEqual([
    "contacts.delete",
    "contacts.deleteMany",
  ]);
});

describe("completion scripts", () => {
  // Only bash can be counted on where tests run; of the others the content is looked at.
  test.each(["bash", "zsh", "fish"])(
    "the completion script of %s names every command and is printed without any other text",
    async (shell) => {
      const { code, stdout } = await runCli(["completion", shell]);
      expect(code).toBe(0);
      for (const { spec } of COMMANDS) expect(stdout).toContain(spec.name.split(" ").at(-1) ?? "");
      expect(stdout).not.toContain("undefined");
    },
  );
});
