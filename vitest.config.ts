import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { MEMORY_DISK } from "./test/support/memory-disk.js";

const SOURCE = resolve(import.meta.dirname, "src");

/** Rooms whose unit tests need no store in a file and no real time. */
const FAST = "{base,capture,cli,client,contract,page,protocol,scaffold,testing}";

// The kinds of tests, by what they need. All that no pattern names is a unit test, which starts no process and no
// browser.
const KINDS = {
  smoke: ["test/smoke/**/*.test.ts"],
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
  reporters: ["default", "test/support/time-reporter.ts"],
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // What is awaited comes at once or never; the limit is for machines that are busy with other work.
  expect: { poll: { timeout: 15_000, interval: 10 } },
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

const UNIT = {
  // One after the other in the same worker: loading the package for each file takes as long as the tests.
  isolate: false,
  // Commits to files wait for the disk, which a unit test does not test.
  env: { TMPDIR: MEMORY_DISK },
};

/** The entries and modules of the package as its source, so that a change of the source is seen without a build. */
const FROM_SOURCE = [
  { find: /^#pigeonhole\/(.*)\.js$/, replacement: `${SOURCE}/$1.ts` },
  { find: /^pigeonhole$/, replacement: `${SOURCE}/index.ts` },
  { find: /^pigeonhole\/(client|dashboard|postgres|protocol|sandbox|testing)$/, replacement: `${SOURCE}/$1.ts` },
];

/** Tests import the package ("pigeonhole", "#pigeonhole/…"): its source, or what ships. */
export function configure(tested: "source" | "dist") {
  const isSource = tested === "source";
  return defineConfig({
    resolve: { alias: isSource ? FROM_SOURCE : [] },
    test: {
      // Threads of the package, such as the one that writes, load its source too.
      execArgv: isSource ? ["--import", resolve(import.meta.dirname, "test/support/threads-of-source.mjs")] : [],
      projects: [
        project("fast", [`test/${FAST}/**/*.test.ts`, "test/*.test.ts"], {
          ...UNIT,
          exclude: [...NEVER, ...Object.values(KINDS).flat()],
        }),
        project("unit", ["test/**/*.test.ts"], {
          ...UNIT,
          exclude: [...NEVER, ...Object.values(KINDS).flat(), `test/${FAST}/**`, "test/*.test.ts"],
        }),
        ...Object.entries(KINDS).map(([name, include]) => project(name, include)),
      ],
      ...SHARED,
      typecheck: { enabled: false },
      // What was transformed is kept for the next run.
      experimental: { fsModuleCache: true },
    },
  });
}

export default configure("source");
