import { resolve } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { followLoads } from "./test/support/loaded-elsewhere.js";
import { MEMORY_DISK } from "./test/support/memory-disk.js";

const SOURCE = resolve(import.meta.dirname, "src");

/** Rooms whose unit tests need no store in a file and no real time. */
const FAST = "{base,capture,cli,client,contract,page,protocol,repository,scaffold,testing}";

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

const NEVER = ["test/bench/**", "node_modules/**"];
const ONLY_LONG = "test/**/*.long.test.ts";

/** Their long form has all of the short one, and `test:rest` runs it. */
const LONG_IN_REST = [
  "test/process/strangers.test.ts",
  "test/simulation/mutants.test.ts",
  "test/store/sqlite/layout-mutants.simulation.test.ts",
];

/** Their long form takes minutes: `test:rest` runs the short one, if they have one. */
const LONG_AT_NIGHT = [
  "test/dashboard/many/million.long.test.ts",
  "test/dev/page/looks.test.ts",
  "test/process/kill.test.ts",
  "test/process/slow-disk.test.ts",
  "test/process/stop.test.ts",
  "test/scaffold/packed.package.test.ts",
  "test/simulation/seeds-*.test.ts",
  "test/store/model.long.test.ts",
  "test/store/postgres/mutants.simulation.test.ts",
  "test/torture/*.test.ts",
];

/** More of what the short forms have: kills, lives, seeds, all templates and looks of the page. */
const MORE = {
  MOUNTS: "all",
  MUTANTS: "all",
  PROCESS_TEST_KILLS: "300",
  SEEDS: "2000",
  SLOW_DISK_SECONDS: "12",
  STATES: "2000",
  STOP_ROUNDS: "7",
  TEMPLATES: "all",
  VISITS: "all",
};

/** Wait longest, and would be alone at the end of a run. */
const FIRST =
  /\.long\.|slow-disk|power-loss|crash-loop|postgres-(?:faults|examples)|conformance-file|smoke\/(?:worlds|kills|power-cut|packed)/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => (FIRST.test(moduleId) ? 0 : 1);
    // oxlint-disable-next-line unicorn/no-array-sort -- it is the sequencer's, and gives a promise
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

// Processes that tests start, and the workers, load compiled code.
process.env["NODE_COMPILE_CACHE"] ??= resolve(import.meta.dirname, "node_modules/.cache/node");

/** What holds for every kind. */
const SHARED = {
  reporters: ["default", "test/support/time-reporter.ts"],
  // The limits are for what hangs: what is awaited comes at once or never, unless the machine is busy with other work.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 30_000, interval: 10 } },
  // Most files wait for processes, disks and browsers; four at a time keep two cores busy.
  maxWorkers: 4,
  sequence: { sequencer: LongestFirst, groupOrder: 1 },
  // Node loads the built package as users do, and Vite does not transform it, which takes seconds for each file.
  server: { deps: { external: [/\/dist\//] } },
};

interface Rest {
  maxWorkers?: number;
  sequence?: { groupOrder: number };
  exclude?: string[];
  isolate?: boolean;
  env?: Record<string, string>;
  expect?: typeof SHARED.expect;
}

const project = (name: string, include: string[], rest: Rest = {}) => ({
  extends: true as const,
  test: { name, include, exclude: [...NEVER, ONLY_LONG], ...rest },
});

const UNIT = {
  // They keep a core busy each, and every further worker loads the package once more. The other kinds come after them.
  maxWorkers: 2,
  sequence: { groupOrder: 0 },
  // One after the other in the same worker: loading the package for each file takes as long as the tests.
  isolate: false,
  // Commits to files wait for the disk, which a unit test does not test.
  env: { TMPDIR: MEMORY_DISK },
  // What comes in the next turns of the event loop is not waited for longer.
  expect: { poll: { timeout: 30_000, interval: 1 } },
};

/** The entries and modules of the package as its source, so that a change of the source is seen without a build. */
const FROM_SOURCE = [
  { find: /^#pigeonhole\/(.*)\.js$/, replacement: `${SOURCE}/$1.ts` },
  { find: /^pigeonhole$/, replacement: `${SOURCE}/index.ts` },
  { find: /^pigeonhole\/(client|dashboard|postgres|protocol|sandbox|store|testing)$/, replacement: `${SOURCE}/$1.ts` },
];

const ALL_KINDS = Object.values(KINDS).flat();
const SHORT = [
  project("fast", [`test/${FAST}/**/*.test.ts`], {
    ...UNIT,
    exclude: [...NEVER, ONLY_LONG, ...ALL_KINDS],
  }),
  project("unit", ["test/**/*.test.ts"], {
    ...UNIT,
    exclude: [...NEVER, ONLY_LONG, ...ALL_KINDS, `test/${FAST}/**`],
  }),
  ...Object.entries(KINDS).map(([name, include]) => project(name, include)),
];

const LONG = {
  exclude: NEVER,
  env: Object.fromEntries(Object.entries(MORE).map(([name, value]) => [name, process.env[name] ?? value])),
};

/** The forms of a run: those that `npm test` has and more of their kinds, the long ones, or of each what tells most. */
const FORMS = {
  short: SHORT,
  long: [project("long", [ONLY_LONG, ...LONG_IN_REST, ...LONG_AT_NIGHT], LONG)],
  rest: [
    ...Object.entries(KINDS)
      .filter(([name]) => name !== "smoke")
      .map(([name, include]) => project(name, include, { exclude: [...NEVER, ONLY_LONG, ...LONG_IN_REST] })),
    project("long", [ONLY_LONG, ...LONG_IN_REST], { ...LONG, exclude: [...NEVER, ...LONG_AT_NIGHT] }),
  ],
};

/** Tests import the package ("pigeonhole", "#pigeonhole/…"): its source, or what ships. */
export function configure(tested: "source" | "dist", forms: keyof typeof FORMS = "short") {
  const isSource = tested === "source";
  return defineConfig({
    resolve: { alias: isSource ? FROM_SOURCE : [] },
    plugins: isSource ? [followLoads] : [],
    test: {
      // Threads of the package, such as the one that writes, load its source too.
      execArgv: isSource ? ["--import", resolve(import.meta.dirname, "test/support/threads-of-source.mjs")] : [],
      projects: FORMS[forms],
      ...SHARED,
      globalSetup: [
        ...(isSource ? ["test/support/fresh-build.ts"] : []),
        "test/support/prepare-postgres.ts",
        "test/support/tell-skipped.ts",
      ],
      typecheck: { enabled: false },
      // What decides how the package is built, and no module of it imports, changes all.
      forceRerunTriggers: [
        ...configDefaults.forceRerunTriggers,
        "**/bundle.ts",
        "**/tsconfig*.json",
        "**/src/page/build.ts",
        "**/src/page/index.html",
        "**/src/page/public/**",
      ],
      // What was transformed is kept for the next run.
      experimental: { fsModuleCache: true },
    },
  });
}

export default configure("source");
