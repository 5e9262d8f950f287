import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { anchorsOf, readDocument } from "./markdown.js";

// Comments that follow a rule of the service cite a section of docs/service.md, and nothing that a reader cannot open.

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDERS = ["src", "test", "examples", "templates", "docs"];

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : listFiles(path);
    return /\.(?:tsx?|mjs|md|sql|css)$/.test(entry.name) ? [path] : [];
  });
}

const files = [...FOLDERS.map((folder) => join(ROOT, folder)).flatMap(listFiles), join(ROOT, "README.md")];
const texts = files.map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, "utf8") }));

test("every citation of a page or section of docs/ leads to an existing one", () => {
  const cited = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\bdocs\/[\w-]+\.md(?:#([\w-]+))?/g)].map(([place, anchor]) => ({ path, place, anchor })),
  );
  expect(cited.filter(({ anchor }) => anchor !== undefined).length).toBeGreaterThan(50);
  const broken = cited.filter(({ place, anchor }) => {
    const [page = ""] = place.split("#");
    if (!existsSync(join(ROOT, page))) return true;
    return anchor !== undefined && !anchorsOf(readDocument(page)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test("no file cites a document that is not in the repository", () => {
  // A section sign is for standards that anyone can open.
  const foreign = /\bseeds? part\b|\bthe seeds leave\b|(?<!\bRFC \d+ (?:§[\d.]+ to )?)§/gi;
  const found = texts
    .filter(({ path }) => path !== "test/docs/citations.test.ts")
    .flatMap(({ path, text }) => (text.match(foreign) ?? []).map((words) => `${path}: ${words}`));
  expect(found).toEqual([]);
});
