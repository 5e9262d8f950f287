import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fillExampleFolder } from "./example-folder.js";
import { DOCUMENTS, blocksOf, readDocument } from "./markdown.js";

// The tests that the documents show, marked with `<!-- run: test -->`, pass as they stand there.

/** What a fragment uses that its text introduces. A block that imports the name itself is whole. */
const INTRODUCED: Record<string, string> = {
  createApp: "../examples/app.js",
  expect: "vitest",
  test: "vitest",
};

function complete(block: string): string {
  const isImported = (name: string): boolean => new RegExp(String.raw`^import .*\b${name}\b`, "m").test(block);
  const missing = Object.entries(INTRODUCED).filter(([name]) => !isImported(name));
  return [...missing.map(([name, from]) => `import { ${name} } from "${from}";`), block].join("\n");
}

const folder = mkdtempSync(join(tmpdir(), "pigeonhole-document-tests-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
fillExampleFolder(folder);
mkdirSync(join(folder, "blocks"));

const blocks = DOCUMENTS.flatMap((path) => blocksOf(readDocument(path), "ts")).filter(
  ({ remark }) => remark === "run: test",
);
for (const [index, { block }] of blocks.entries()) {
  const file = join(folder, "blocks", `block-${index + 1}.ts`);
  writeFileSync(file, complete(block));
  // Adds its tests to those of this file.
  await import(file);
}

const ofHandlers = ["docs/handlers.md", "docs/recipes.md"].flatMap((path) => blocksOf(readDocument(path), "ts"));

test.each(["new RetryAfter(", 'only: "newest"', "inbox.plan(", "repair: {", ".onBatch(", "rate: {", "delivery.source"])(
  "what handlers.md or recipes.md says of %s is shown by a whole program",
  (code) => {
    const shown = ofHandlers.filter(({ remark, block }) => remark === "run: test" && block.includes(code));
    expect(shown).toHaveLength(1);
  },
);
