import { spawnSync } from "node:child_process";
import { relative, resolve } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { measureSlowness } from "./slowness.js";

const ROOT = resolve(import.meta.dirname, "../..");
const MAX_UNIT_MS = 300;
/** On a slower machine times say nothing. */
const MAX_SLOWNESS = 1.5;
/** The scripts that fail over slow unit tests. */
const FAILS = ["test", "test:unit"].includes(process.env["npm_lifecycle_event"] ?? "");
const IS_SECOND_LOOK = process.env["PIGEONHOLE_SECOND_LOOK"] !== undefined;

/**
 * Ends a run with the seconds of each kind and room, and the slowest tests. Unit tests over the limit are run again,
 * alone, and the run fails over those that are slow again, on a machine that is not busy.
 */
export default class TimeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
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
    const slow = tests.filter((test) => isUnit(test) && took(test) > MAX_UNIT_MS);
    if (slow.length === 0) return;
    console.log(`${slow.length} unit tests took over ${MAX_UNIT_MS} ms${IS_SECOND_LOOK ? ", also alone" : ""}.`);
    if (FAILS && measureSlowness() < MAX_SLOWNESS && (IS_SECOND_LOOK || !passAlone(slow))) process.exitCode = 1;
  }
}

function passAlone(slow: readonly TestCase[]): boolean {
  const names = slow.map(({ fullName }) => fullName.replaceAll(/[^\w ]/g, ".").replaceAll(" . ", ".{1,3}"));
  const args = ["--maxWorkers=1", "--testNamePattern", names.join("|"), ...new Set(slow.map(fileOf))];
  const env = { ...process.env, PIGEONHOLE_SECOND_LOOK: "1" };
  return (
    spawnSync(process.execPath, [...process.argv.slice(1), ...args], { cwd: ROOT, env, stdio: "inherit" }).status === 0
  );
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const took = (test: TestCase): number => test.diagnostic()?.duration ?? 0;
const fileOf = (test: TestCase): string => relative(ROOT, test.module.moduleId);
const isUnit = (test: TestCase): boolean => ["fast", "unit"].includes(test.project.name);
