import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Failure } from "./failure-reporter.js";

/** Tests of what people look at. A test of the promise that waits in vain may have found a lost event. */
const OF_SURFACES = /^test\/(dev\/page|cli)\//;

export interface Outcome {
  command: string;
  failed: boolean;
  /** For each failed test its file, its name and the first line of its error. */
  failures: string[];
}

/**
 * Runs Node with these arguments. If only tests of pages and commands failed, by nothing but time, their files are run
 * once more, alone: on a busy machine a browser can be slower than a limit. Everything else that fails stays failed.
 */
export function runTests(root: string, args: readonly string[]): Outcome {
  const command = `node ${args.join(" ")}`;
  console.log(`\n$ ${command}`);
  const first = run(root, args);
  const isSlowSurface = ({ file, byTime }: Failure): boolean => OF_SURFACES.test(file) && byTime;
  if (first.passed || first.failed.length === 0 || !first.failed.every(isSlowSurface)) {
    return { command, failed: !first.passed, failures: first.failed.map(describe) };
  }
  const files = [...new Set(first.failed.map(({ file }) => file))];
  console.log(`\nAlone once more, as they failed by time:\n  ${first.failed.map(describe).join("\n  ")}`);
  const second = run(root, [...args.filter((arg) => !/^\d+\/\d+$|^--shard$/.test(arg)), "--maxWorkers=1", ...files]);
  return { command, failed: !second.passed, failures: second.failed.map(describe) };
}

function run(root: string, args: readonly string[]): { passed: boolean; failed: Failure[] } {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-tests-"));
  const failures = join(folder, "failures.json");
  const reporters = ["default", "test/support/time-reporter.ts", "test/support/failure-reporter.ts"];
  const isVitest = args.some((arg) => arg.endsWith("vitest.mjs"));
  const { status } = spawnSync(
    process.execPath,
    isVitest ? [...args, ...reporters.flatMap((name) => ["--reporter", name])] : args,
    { cwd: root, stdio: "inherit", env: { ...process.env, PIGEONHOLE_FAILURES: failures } },
  );
  const failed = existsSync(failures) ? (JSON.parse(readFileSync(failures, "utf8")) as Failure[]) : [];
  rmSync(folder, { recursive: true });
  return { passed: status === 0, failed };
}

const describe = ({ file, name, error }: Failure): string => `${file} > ${name}: ${error}`;
