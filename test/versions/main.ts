import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, fetchNode, run } from "./programs.js";
import {
  findWrongDriver,
  makeProject,
  readDriverVersion,
  refuseWrongDriver,
  runScaffold,
  runTests,
} from "./project.js";
import { TYPESCRIPT_VERSIONS, compileConsumer } from "./types.js";

// The packed package as users get it: installed by npm into a fresh project under each Node, and tried there.
//   npm run test:versions -- --node 20,26 --typescript 5.4

const { values } = parseArgs({
  options: {
    node: { type: "string", default: "20,22,24,26" },
    typescript: { type: "string", default: TYPESCRIPT_VERSIONS.join(",") },
    keep: { type: "boolean", default: false },
  },
});
const listOf = (text: string): string[] => text.split(",").filter((item) => item !== "");

const folder = mkdtempSync(join(tmpdir(), "pigeonhole-versions-"));
const begun = Date.now();

async function step(what: string, work: () => Promise<void>): Promise<void> {
  const at = Date.now();
  await work();
  console.log(`✓ ${what}, ${((Date.now() - at) / 1000).toFixed(0)} s`);
}

async function pack(): Promise<string> {
  await run({
    command: "npm",
    args: ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder],
    cwd: ROOT,
  });
  const name = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack made no file.");
  return join(folder, name);
}

async function tryNode(major: string, tarball: string): Promise<void> {
  const node = await fetchNode(major);
  const project = join(folder, `node${major}`);
  await step(`Node ${major}: npm installs the package`, () => makeProject(project, tarball, node));
  console.log(`  Node ${major}: better-sqlite3 ${readDriverVersion(project)}`);
  await step(`Node ${major}: kill test, quiet starts, mounts, store conformance`, () => runTests(project, node));
  await step(`Node ${major}: a project of init passes its tests`, () => runScaffold(project, tarball, node));
  if (Number(major) < 24) {
    const flags = ["--no-node-package"];
    await step(`Node ${major}: so does one on this Node alone`, () => runScaffold(project, tarball, node, flags));
  }
  const wrong = await findWrongDriver(node);
  if (wrong !== undefined) {
    await step(`Node ${major}: a wrong better-sqlite3 is refused`, () => refuseWrongDriver(project, wrong, node));
  }
}

async function tryTypes(tarball: string): Promise<void> {
  const project = join(folder, "types");
  const node = await fetchNode("24");
  await step("an installed package for the compilers", () => makeProject(project, tarball, node));
  for (const version of listOf(values.typescript)) {
    await step(`TypeScript ${version} reads the declarations`, () => compileConsumer(project, version));
  }
}

/**
 * Two at a time: one installs or waits while the other one computes. After a failure the other lane goes on to its end.
 */
async function runInTwoLanes(jobs: (() => Promise<void>)[]): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job();
  };
  const ended = await Promise.allSettled([lane(), lane()]);
  const failed = ended.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} of the versions failed.`);
}

try {
  const tarball = await pack();
  const nodes = listOf(values.node).map((major) => () => tryNode(major, tarball));
  const types = values.typescript === "" ? [] : [() => tryTypes(tarball)];
  await runInTwoLanes([...nodes, ...types]);
  console.log(`All in ${((Date.now() - begun) / 1000).toFixed(0)} s.`);
} finally {
  if (!values.keep) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
