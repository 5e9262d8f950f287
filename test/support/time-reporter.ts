import { execFile } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";
import { relative, resolve } from "node:path";
import { promisify } from "node:util";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

const ROOT = resolve(import.meta.dirname, "../..");
const MAX_UNIT_MS = 300;

type JsonReport = { testResults: { assertionResults: { fullName: string; duration?: number }[] }[] };

/** Ends every run with the seconds of each kind and room and the slowest tests; a slow unit test fails the run. */
export default class TimeReporter implements Reporter {
  #config = "vitest.config.ts";

  onInit({ vite }: Vitest): void {
    this.#config = vite.config.configFile ?? this.#config;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const kinds = new Map<string, Map<string, number>>();
    for (const module of modules) {
      const rooms = kinds.get(module.project.name) ?? new Map<string, number>();
      const room = relative(ROOT, module.moduleId).split("/").slice(1, -1)[0] ?? "repository";
      kinds.set(module.project.name, rooms.set(room, (rooms.get(room) ?? 0) + module.diagnostic().duration));
    }
    for (const [kind, rooms] of kinds) {
      const sorted = [...rooms].toSorted(([, one], [, other]) => other - one);
      const sum = seconds(sorted.reduce((total, [, ms]) => total + ms, 0));
      console.log(`${kind}: ${sum} (${sorted.map(([room, ms]) => `${room} ${seconds(ms)}`).join(", ")})`);
    }
    const tests = modules.flatMap((module) => [...module.children.allTests()]).toSorted((a, b) => took(b) - took(a));
    for (const test of tests.slice(0, 20)) console.log(`${seconds(took(test))} ${fileOf(test)} > ${test.fullName}`);
    // On a machine that is busy with other work, every test is slow.
    if (Number(loadavg()[0]) < 3 * availableParallelism()) {
      await this.#runAgain(tests.filter((test) => isUnit(test) && took(test) > MAX_UNIT_MS));
    }
  }

  /** A test that is slow again, beside none but other slow ones, waits for real time. */
  async #runAgain(slow: readonly TestCase[]): Promise<void> {
    if (slow.length === 0) return;
    const args = ["node_modules/vitest/vitest.mjs", "run", "--config", this.#config, "--reporter=json"];
    const options = { cwd: ROOT, maxBuffer: 2 ** 28 };
    const run = promisify(execFile)(process.execPath, [...args, ...new Set(slow.map(fileOf))], options);
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const { testResults } = JSON.parse(stdout.slice(stdout.indexOf('{"num'))) as JsonReport;
    const again = testResults.flatMap(({ assertionResults }) => assertionResults);
    const names = new Set(again.filter(({ duration = 0 }) => duration > MAX_UNIT_MS).map((test) => test.fullName));
    for (const test of slow.filter(({ fullName }) => names.has(fullName.replaceAll(" > ", " ")))) {
      console.error(`A unit test took over ${MAX_UNIT_MS} ms twice: ${fileOf(test)} > ${test.fullName}`);
      process.exitCode = 1;
    }
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const took = (test: TestCase): number => test.diagnostic()?.duration ?? 0;
const fileOf = (test: TestCase): string => relative(ROOT, test.module.moduleId);
const isUnit = (test: TestCase): boolean => ["fast", "unit"].includes(test.project.name);
