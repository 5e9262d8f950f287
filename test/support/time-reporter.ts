import { relative, resolve } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";

const ROOT = resolve(import.meta.dirname, "../..");
const MAX_UNIT_MS = 300;

/** Ends every run with the seconds of each kind and room, the slowest tests, and the number of slow unit tests. */
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
    for (const test of tests.slice(0, 20)) {
      console.log(`${seconds(took(test))} ${relative(ROOT, test.module.moduleId)} > ${test.fullName}`);
    }
    const slow = tests.filter((test) => isUnit(test) && took(test) > MAX_UNIT_MS);
    if (slow.length > 0) console.log(`${slow.length} unit tests took over ${MAX_UNIT_MS} ms.`);
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const took = (test: TestCase): number => test.diagnostic()?.duration ?? 0;
const isUnit = (test: TestCase): boolean => ["fast", "unit"].includes(test.project.name);
