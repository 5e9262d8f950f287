import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { runTests } from "./support/run-tests.js";

// What `npm run test:all` runs after `npm test`: the deep kinds with the long forms, and the packed package on other
// versions of Node and TypeScript. `--shard 1/4` runs a part of it.

const ROOT = resolve(import.meta.dirname, "..");
const { values } = parseArgs({ options: { shard: { type: "string", default: "1/1" } } });
const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(values.shard) ?? []).map(Number);
if (part === undefined || parts === undefined || part < 1 || part > parts) {
  throw new Error(`--shard is a part of all, such as 1/4, not "${values.shard}".`);
}

const tests = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.rest.config.ts", "--shard", values.shard];
const versions = ["--import", "tsx", "test/versions/main.ts", "--node", "22,26", "--typescript", "5.4,7"];
// Both are run, so that one run shows all that fails; the end of the output names it.
const outcomes = [tests, ...(part === parts ? [versions] : [])].map((args) => runTests(ROOT, args));
for (const { command, failures } of outcomes.filter(({ failed }) => failed)) {
  console.error([`Failed: ${command}`, ...failures].join("\n  "));
}
process.exitCode = outcomes.some(({ failed }) => failed) ? 1 : 0;
