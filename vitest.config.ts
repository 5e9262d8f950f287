import { defineConfig } from "vitest/config";
import { MEMORY_DISK } from "./test/support/memory-disk.js";

// The kinds of tests, by what they need. All that no pattern names is a unit test, which starts no process and no
// browser.
const KINDS = {
  process: ["test/process/**/*.test.ts", "test/**/*.process.test.ts"],
  package: ["test/**/*.package.test.ts"],
  browser: ["test/dev/page/**/*.test.ts"],
  simulation: ["test/simulation/**/*.test.ts", "test/torture/**/*.test.ts", "test/**/*.simulation.test.ts"],
  docs: ["test/docs/**/*.test.ts"],
};

/** The long forms have a configuration of their own, test/long/vitest.config.ts. */
const NEVER = ["test/bench/**", "test/**/*.long.test.ts", "node_modules/**"];

/** What holds for every kind. */
export const SHARED = {
  globalSetup: ["test/support/prepare-postgres.ts", "test/support/tell-skipped.ts"],
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // What is awaited comes at once or never; the limit is for machines that are busy with other work.
  expect: { poll: { timeout: 15_000 } },
  // Most files wait for processes, disks and browsers; four at a time keep two cores busy.
  maxWorkers: 4,
  // Node loads the built package as users do, and Vite does not transform it, which takes seconds for each file.
  server: { deps: { external: [/\/dist\//] } },
};

interface Rest {
  exclude?: string[];
  isolate?: boolean;
  env?: Record<string, string>;
}

const project = (name: string, include: string[], rest: Rest = {}) => ({
  extends: true as const,
  test: { name, include, exclude: NEVER, ...rest },
});

// Tests import the built package ("pigeonhole", "#pigeonhole/…"): what is tested is what ships, worker thread included.
export default defineConfig({
  test: {
    projects: [
      project("unit", ["test/**/*.test.ts"], {
        exclude: [...NEVER, ...Object.values(KINDS).flat()],
        // One after the other in the same worker: loading the package for each file takes as long as the tests.
        isolate: false,
        // Commits to files wait for the disk, which a unit test does not test.
        env: { TMPDIR: MEMORY_DISK },
      }),
      ...Object.entries(KINDS).map(([name, include]) => project(name, include)),
    ],
    ...SHARED,
    typecheck: { enabled: false },
  },
});
