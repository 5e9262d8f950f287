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

function step(what: string, work: () => void): void {
  const at = Date.now();
  work();
  console.log(`✓ ${what}, ${((Date.now() - at) / 1000).toFixed(0)} s`);
}

function pack(): string {
  run({
    command: "npm",
    args: ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder],
    cwd: ROOT,
  });
  const name = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack made no file.");
  return join(folder, name);
}

function tryNode(major: string, tarball: string): void {
  const node = fetchNode(major);
  const project = join(folder, `node${major}`);
  step(`Node ${major}: npm installs the package`, () => makeProject(project, tarball, node));
  console.log(`  better-sqlite3 ${readDriverVersion(project)}`);
  step(`Node ${major}: kill test, mounts, quiet starts, store conformance`, () => runTests(project, node));
  step(`Node ${major}: a project of init passes its tests`, () => runScaffold(project, tarball, node));
  if (Number(major) < 24) {
    const flags = ["--no-node-package"];
    step(`Node ${major}: so does one on this Node alone`, () => runScaffold(project, tarball, node, flags));
  }
  const wrong = findWrongDriver(node);
  if (wrong !== undefined) {
    step(`Node ${major}: a wrong better-sqlite3 is refused`, () => refuseWrongDriver(project, wrong, node));
  }
}

function tryTypes(tarball: string): void {
  const project = join(folder, "types");
  step("an installed package for the compilers", () => makeProject(project, tarball, fetchNode("24")));
  for (const version of listOf(values.typescript)) {
    step(`TypeScript ${version} reads the declarations`, () => compileConsumer(project, version));
  }
}

try {
  const tarball = pack();
  for (const major of listOf(values.node)) tryNode(major, tarball);
  if (values.typescript !== "") tryTypes(tarball);
  console.log(`All in ${((Date.now() - begun) / 1000).toFixed(0)} s.`);
} finally {
  if (!values.keep) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
