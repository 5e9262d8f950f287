import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";

const ROOT = resolve(import.meta.dirname, "../..");

/** Kinds of tests that load the source alone. */
const WITHOUT_BUILD = ["fast", "unit"];

/** Builds what processes and the browser load, if the source is newer. Called before a project's first test. */
export default function buildIfStale(project: TestProject): void {
  if (!project.vitest.projects.includes(project) || WITHOUT_BUILD.includes(project.name) || !isStale()) return;
  execFileSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: "inherit" });
}

function isStale(): boolean {
  const changedAt = (path: string): number => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  return Math.max(...sources.map((path) => changedAt(join("src", path)))) > changedAt("dist/index.js");
}
