import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "#pigeonhole/cli/commands.js";
import { protectSearchTerms, searchTerm } from "#pigeonhole/cli/values/parse-option.js";
import { QUERY_FIELDS } from "#pigeonhole/capture/query/query.js";
import { parseExample } from "../support/parse-example.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

describe("help", () => {
  test("help lists every usual command, or the family that it belongs to, and names the others", async () => {
    const { code, stdout } = await runCli(["--help"]);
    expect(code).toBe(0);
    expect(COMMANDS.length).toBeGreaterThan(20);
    const [rare, usual] = [true, undefined].map((isRare) => COMMANDS.filter(({ spec }) => spec.isRare === isRare));
    for (const { spec } of usual ?? []) expect(stdout).toMatch(new RegExp(`^  ${spec.name.split(" ")[0]}\\b`, "m"));
    expect(stdout).not.toMatch(/^ {2}postgres\b/m);
    expect(stdout).toContain(`Needed less often: ${rare?.map(({ spec }) => spec.name).join(", ")}.`);
  });

  test("pigeonhole without arguments prints the help", async () => {
    expect(await runCli([])).toMatchObject({ code: 0, stdout: (await runCli(["--help"])).stdout });
  });

  test("help of a command shows its options and examples, and where the common options are", async () => {
    const { code, stdout } = await runCli(["trigger", "--help"]);
    expect(code).toBe(0);
    for (const part of [
      "--sign <how>",
      "wrong-secret",
      "pigeonhole --help",
      "Examples:",
      "$ pigeonhole trigger email.received",
    ]) {
      expect(stdout).toContain(part);
    }
  });

  test("help shows only examples that work as they are printed", async () => {
    const lines = COMMANDS.flatMap(({ spec }) => spec.examples.map(([line]) => line));
    // What a shell does with the output is not ours.
    const own = lines.filter((line) => line.startsWith("pigeonhole ")).map((line) => line.split(" > ")[0] ?? "");
    expect(own.length).toBeGreaterThan(30);
    for (const line of own) {
      expect(await parseExample(line), line).toHaveLength(1);
    }
  });

  test("help has an example for every command", () => {
    const without = COMMANDS.filter(({ spec }) => spec.examples.length === 0);
    expect(without.map(({ spec }) => spec.name)).toEqual([]);
  });

  test("help and version end with 0, and the version is that of the package", async () => {
    const { code, stdout } = await runCli(["--version"]);
    expect([code, stdout.trim()]).toEqual([0, "0.1.0"]);
  });
});

describe("options of every command", () => {
  test("a common option may be given before and after the command's name", async () => {
    for (const args of [
      ["--json", "api", "labels"],
      ["api", "labels", "--json"],
    ]) {
      expect(jsonLines(await runCli(args))[0]).toMatchObject({ schemaVersion: 1, call: "labels.list" });
    }
  });

  test("--cwd decides where relative paths start", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "event.json"), "{}");
    writeFileSync(join(cwd, ".env"), `WEBHOOK_SECRET=${SECRET}\n`);
    const { code, stdout } = await runCli(["-C", cwd, "trigger", "--print", "--body", "event.json"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("x-svc-signature: t=")]);
  });

  const colored = { FORCE_COLOR: "1" };
  test.each([
    ["is not used for a pipe", [], {}, false],
    ["is not used for a pipe in CI either", [], { CI: "true" }, false],
    ["is used when FORCE_COLOR asks for it", [], colored, true],
    ["is not used under NO_COLOR", [], { ...colored, NO_COLOR: "1" }, false],
    ["is not used with --no-color", ["--no-color"], colored, false],
  ] as const)("colour %s", async (_, flags, env, isUsed) => {
    const { stdout } = await runCli(["api", ...flags], { env });
    expect(stdout).toContain("contacts");
    expect(stdout.includes("\u001b[")).toBe(isUsed);
  });
});

test.each([{}, { FORCE_COLOR: "1" }])(
  "control characters of an argument are escapes in the error about it, those of colours too, with %j",
  async (env) => {
    for (const sequence of ["\u001b[8m", "\u001b[31m", "\u001b[7m"]) {
      const { code, stderr } = await runCli(["inbox", "list", "--state", `${sequence}text`], { env });
      expect(code).toBe(2);
      expect(stderr).toContain(`${sequence.replace("\u001b", "\\u001b")}text`);
      expect(stderr.replace("\u001b[31merror:\u001b[39m", "")).not.toContain("\u001b");
    }
  },
);

test("a negated term of a search is not taken for an option, whatever its field", () => {
  for (const name of Object.keys(QUERY_FIELDS)) {
    const term = `-${name.replace(/<.*>/, "some.field")}:value`;
    const [word = ""] = protectSearchTerms([term]);
    expect(word).not.toMatch(/^-/);
    expect(searchTerm(word)).toBe(term);
  }
  const flags = ["-f", "-fhttp://127.0.0.1:3000", "-HX-Signature: t=1", "--to", "-q", "last"];
  expect(protectSearchTerms(flags)).toEqual(flags);
});
