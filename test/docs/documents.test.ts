import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parseExample } from "../support/parse-example.js";
import { EXAMPLE_GLOBALS } from "./example-globals.js";
import { DOCUMENTS, anchorsOf, blocksOf, readDocument, withoutCode } from "./markdown.js";
import { makeExampleFolder } from "./example-folder.js";

// What can rot in the documents: links, TypeScript, command lines, and the program on the first screen.

const root = resolve(import.meta.dirname, "../..");

const countWords = (path: string): number => readDocument(path).trim().split(/\s+/).length;

describe.each(DOCUMENTS)("%s", (path) => {
  const text = readDocument(path);
  const targets = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);

  test("each link in a document leads to an existing target", () => {
    const broken = targets.filter((target) => {
      if (target.startsWith("https://")) return false; // other people's sites are not asked in a test
      const [file = "", anchor] = target.split("#");
      const linked = file === "" ? path : join(dirname(path), file);
      if (!existsSync(join(root, linked))) return true;
      return anchor !== undefined && !anchorsOf(readDocument(linked)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test("a document names only files that exist in this repository", () => {
    const named = [...text.matchAll(/`((?:src|test|docs|examples|templates|\.github)\/[\w./-]+)`/g)].map(
      ([, file = ""]) => file,
    );
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

test("the list of documents has at most 60 lines, the README links it, and it links every page of docs/", () => {
  const list = readDocument("docs/README.md");
  expect(list.split("\n").length).toBeLessThanOrEqual(60);
  expect(readDocument("README.md")).toContain("](docs/README.md)");
  const pages = DOCUMENTS.filter((path) => path.startsWith("docs/") && path !== "docs/README.md");
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.filter((path) => !list.includes(`](${path.slice("docs/".length)}`))).toEqual([]);
});

test.each([
  ["README.md", 1_800],
  ["docs/performance.md", 1_200],
])("%s has at most %i words", (path, words) => {
  expect(countWords(path)).toBeLessThanOrEqual(words);
});

test("what users read has at most 50,000 words, generated parts included", () => {
  const pages = DOCUMENTS.filter((path) => path === "README.md" || path.startsWith("docs/"));
  expect(pages.reduce((sum, path) => sum + countWords(path), 0)).toBeLessThanOrEqual(50_000);
});

describe("the documents' TypeScript", () => {
  const blocks = DOCUMENTS.flatMap((path) => blocksOf(readDocument(path), "ts"));

  test("the TypeScript examples compile, and fragments compile with the names that their text introduces", () => {
    const folder = makeExampleFolder();
    mkdirSync(join(folder, "blocks"));
    for (const [index, { block }] of blocks.entries()) {
      writeFileSync(join(folder, "blocks", `block-${index + 1}.ts`), `${block}\nexport {};\n`);
    }
    writeFileSync(join(folder, "blocks/globals.d.ts"), EXAMPLE_GLOBALS);
    const { compilerOptions } = JSON.parse(readDocument("tsconfig.json")) as { compilerOptions: object };
    const options = { ...compilerOptions, noUnusedLocals: false, noUnusedParameters: false };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["blocks"] }));
    const tsc = join(root, "node_modules/.bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "--project", folder], { cwd: folder, encoding: "utf8" });
    expect([blocks.length > 8, stdout]).toEqual([true, ""]);
  });
});

test("the first program of the README is the smallest example, which another test runs, and has fewer than 32 lines", () => {
  const [first] = blocksOf(readDocument("README.md"), "ts");
  const example = readDocument("examples/express-minimal.ts")
    .replace(/^import "\.\/check-node\.js";\n/, "")
    .replace(/\n\/\/ A complete receiver\..*\n/, "");
  expect(first).toEqual({ remark: "example: first", block: example });
  expect(first?.block.trimEnd().split("\n").length).toBeLessThan(32);
  expect(first?.block).toMatch(/^ {2}schemas: \{\n.*z\.object\(.*\n {2}\},$/m);
});

test("the first command of the README is what a checkout runs", () => {
  const [, demo = ""] = readDocument("README.md").split("## See it work");
  expect(blocksOf(demo, "sh")[0]?.block).toBe("npm ci && npm start\n");
});

describe("command lines", () => {
  const linesOf = (path: string): string[] =>
    ["sh", "console"]
      .flatMap((language) => blocksOf(readDocument(path), language))
      .flatMap(({ block }) => block.split("\n"))
      .map((line) => line.replace(/^\$ /, "").replace(/\s+(#|> ).*$/, ""))
      .filter((line) => line.startsWith("npx pigeonhole "));

  test("the command lines in the documents are accepted by the command", async () => {
    const lines = DOCUMENTS.flatMap(linesOf);
    expect(lines.length).toBeGreaterThan(40);
    for (const line of lines) expect(await parseExample(line), line).toHaveLength(1);
  });
});

test("every npm script that the documents name exists here or in a scaffolded project", () => {
  const scriptsOf = (path: string) => (JSON.parse(readDocument(path)) as { scripts: Record<string, string> }).scripts;
  const scripts = { ...scriptsOf("templates/__common__/_package.json"), ...scriptsOf("package.json") };
  const named = DOCUMENTS.flatMap((path) => [
    ...readDocument(path).matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)/g),
  ]);
  expect(named.length).toBeGreaterThan(3);
  expect(named.map(([, name = ""]) => name).filter((name) => scripts[name] === undefined)).toEqual([]);
});
