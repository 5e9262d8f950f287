import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { hasPostgres, isRoot } from "./support/tools.js";

const ROOT = resolve(import.meta.dirname, "..");

test("a run names each skipped group of tests in one line, with what is missing", () => {
  const files = ["test/quiet.process.test.ts", "test/torture/power-loss.test.ts", "test/dispatch/pauses.test.ts"];
  const args = ["node_modules/vitest/vitest.mjs", "run", ...files, "--testNamePattern", "no such test"];
  const env = { ...process.env, PATH: "", NO_COLOR: "1" };
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" });
  const lines = (stdout + stderr).match(/^Skipped .*$/gm) ?? [];
  const tools = ["cc", "script of util-linux", "strace", "promtool of Prometheus", "bash", "zsh", "fish", "openssl"];
  const missing = [
    "a store in memory that keeps its data",
    ...(hasPostgres() ? [] : ["PostgreSQL"]),
    ...tools,
    ...["/proc of Linux", "/sys of Linux", "/dev/full"].filter((path) => !existsSync(path.split(" ")[0] ?? path)),
    isRoot() ? "a user other than root" : "root",
    ...(hasPostgres() ? [] : ["PostgreSQL"]),
    "cc",
  ];
  // The files run at the same time, so their lines come in any order.
  expect(lines.map((line) => /without (.*?):/.exec(line)?.[1] ?? line).toSorted()).toEqual(missing.toSorted());
});
