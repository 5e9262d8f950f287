import { expect, test } from "vitest";
import { COMMANDS, FAMILIES } from "#pigeonhole/cli/commands.js";
import { completeWords } from "#pigeonhole/cli/completion/complete-words.js";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { runCli } from "../support/run-cli.js";

const offered = (...words: string[]): string[] =>
  completeWords(
    words,
    COMMANDS.map(({ spec }) => spec),
    FAMILIES,
  ).map(({ text }) => text);

test("completion offers every operation of the API, and every resource", async () => {
  const { stdout } = await runCli(["completion", "bash", "--", "api", ""]);
  const calls = listOperations().map(({ resource, name }) => `${resource}.${name}`);
  const resources = new Set(listOperations().map(({ resource }) => resource));
  expect(stdout.trim().split("\n")).toEqual([...calls, ...resources]);
  const some = await runCli(["completion", "zsh", "--", "api", "--query", "limit=1", "contacts.d"]);
  expect(some.stdout).toBe("contacts.delete\ncontacts.deleteMany\n");
});

test("completion knows every command, the options of each, and values; nothing stands for files", () => {
  for (const { spec } of COMMANDS) expect(offered(...spec.name.split(" "))).toContain(spec.name.split(" ").at(-1));
  expect(offered("--j")).toEqual(["--json"]);
  expect(offered("outbox", "")).toEqual(["list", "show", "retry", "discard"]);
  expect(offered("init", "--no-d")).toEqual(["--no-docker"]);
  expect(offered("dev", "--when-down", "=", "h")).toEqual(["hold"]);
  expect(offered("dev", "--when-down", "=")).toEqual(["503", "hold"]);
  expect(offered("init", "-t", "hon")).toEqual(["hono"]);
  expect(offered("inbox", "list", "-d", "")).toEqual([]);
  expect(offered("inbox", "stats", "")).toContain("--db");
});
