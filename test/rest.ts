import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { runTests } from "./support/run-tests.js";

// What `npm run test:all` runs after `npm test`: the deep kinds, the long forms, and the packed package on other
// versions of Node and TypeScript. `--shard 1/4` runs a part of it.

const ROOT = resolve(import.meta.dirname, "..");
const { values } = parseArgs({ options: { shard: { type: "string", default: "1/1" } } });
const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(values.shard) ?? []).map(Number);
if (part === undefined || parts === undefined || part < 1 || part > parts) {
  throw new Error(`--shard is a part of all, such as 1/4, not "${values.shard}".`);
}

const exclude = (files: readonly string[]): string[] => files.flatMap((file) => ["--exclude", file]);
const vitest = (config: string, ...args: string[]): string[] => {
  return ["node_modules/vitest/vitest.mjs", "run", "--config", config, ...args];
};

/** Their long form is run, which has all of the short one. */
const LONGER = [
  "test/process/kill.test.ts",
  "test/process/strangers.test.ts",
  "test/simulation/mutants.test.ts",
  "test/store/sqlite/death-at-statement.process.test.ts",
  "test/store/sqlite/layout-mutants.simulation.test.ts",
  "test/store/sqlite/layout-random.simulation.test.ts",
];

/** Their short form is run; the long form takes minutes, and is for `npm run test:long`. */
const SHORTER = [
  "test/dashboard/many/million.long.test.ts",
  "test/dev/page/*.test.ts",
  "test/process/slow-disk.test.ts",
  "test/process/stop.test.ts",
  "test/scaffold/packed.package.test.ts",
  "test/store/conformance-postgres-two-stores.long.test.ts",
  "test/store/model.long.test.ts",
  "test/store/postgres/mutants.simulation.test.ts",
];

const DEEP = ["process", "package", "browser", "simulation", "docs"];
const SHARD = ["--shard", values.shard];
const commands = [
  vitest("vitest.dist.config.ts", ...DEEP.flatMap((kind) => ["--project", kind]), ...exclude(LONGER), ...SHARD),
  vitest("test/long/vitest.config.ts", ...exclude(SHORTER), ...SHARD),
];
if (part === parts) {
  commands.push(["--import", "tsx", "test/versions/main.ts", "--node", "22,26", "--typescript", "5.4,7"]);
}
// All are run, so that one run shows all that fails; the end of the output names it.
const outcomes = commands.map((args) => runTests(ROOT, args));
for (const { command, failures } of outcomes.filter(({ failed }) => failed)) {
  console.error([`Failed: ${command}`, ...failures].join("\n  "));
}
process.exitCode = outcomes.some(({ failed }) => failed) ? 1 : 0;
