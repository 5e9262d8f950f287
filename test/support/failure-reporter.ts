import { writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { SerializedError } from "@vitest/utils";
import type { Reporter, TestModule } from "vitest/node";

const ROOT = resolve(import.meta.dirname, "../..");

/** A test, a file or a run that failed. */
export interface Failure {
  /** Path from the root; empty for an error that belongs to no file. */
  file: string;
  name: string;
  /** The first line of the error. */
  error: string;
  /** Waited in vain, as Vitest, Playwright and `waitUntil` say it. */
  byTime: boolean;
}

const BY_TIME = /\btimed out\b|\btimeout \d+ ?ms exceeded|\bnot within \d+ ms\b|Matcher did not succeed in time/i;

/** Writes what failed as JSON to the file that PIGEONHOLE_FAILURES names. */
export default class FailureReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const failures = modules.flatMap((module) => {
      const file = relative(ROOT, module.moduleId);
      const tests = [...module.children.allTests("failed")].map((test) => {
        return [test.fullName, test.result().errors ?? []] as const;
      });
      const suites = [module, ...module.children.allSuites()].map((suite) => ["", suite.errors()] as const);
      return [...tests, ...suites].flatMap(([name, errors]) => errors.map((error) => failureOf(file, name, error)));
    });
    const path = process.env["PIGEONHOLE_FAILURES"] ?? "";
    writeFileSync(path, JSON.stringify([...failures, ...unhandled.map((error) => failureOf("", "", error))]));
  }
}

function failureOf(file: string, name: string, error: SerializedError & { cause?: SerializedError }): Failure {
  const byTime = BY_TIME.test(`${error.message}\n${error.cause?.message}`);
  return { file, name, error: error.message.split("\n")[0] ?? "", byTime };
}
