import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { readDocument } from "./markdown.js";

// The rules of CONTRIBUTING about words: those it bans, in the prose of every document and in the comments, strings,
// titles of tests and JSX texts of all code; and the width of comments and the names of limits in all code.

const ROOT = resolve(import.meta.dirname, "../..");
const CONTRIBUTING = ".github/CONTRIBUTING.md";
const SKIPPED = new Set(["node_modules", "dist", ".git"]);
/** It has the words as samples. */
const THIS_FILE = "test/docs/word-list.test.ts";
const MAX_COMMENT_COLUMNS = 120;

interface Prose {
  files: RegExp;
  /** What is prose in a file: everything but the first, or nothing but the second. */
  without?: RegExp;
  only?: RegExp;
}

const PROSE: Record<string, Prose> = {
  // Generated parts have the words of src/.
  documents: { files: /\.md$/, without: /<!-- ([\w -]+) -->\n[\s\S]*?<!-- \/\1 -->|^```[\s\S]*?^```$|`[^`\n]*`/gm },
  source: {
    files: /^(?:(?:src|test|examples|templates|\.ci)\/.*\.(?:tsx?|mjs|cjs|css)|[\w.]+\.ts)$/,
    only: /\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|>[^<>{}]*(?=<\/)/g,
  },
};

function listFiles(folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listFiles(path);
    return [relative(ROOT, path)];
  });
}

/** Blank characters in place of a text, so that the lines around it keep their numbers. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}

function proseOf(text: string, { without, only }: Prose): string {
  if (without !== undefined) return text.replaceAll(without, blank);
  if (only === undefined) return text;
  let end = 0;
  const parts = [...text.matchAll(only)].map((match) => {
    const before = blank(text.slice(end, match.index));
    end = match.index + match[0].length;
    return before + match[0];
  });
  return parts.join("");
}

/** The right column of the table in CONTRIBUTING. */
function readWords(): string[] {
  const [, table = ""] = readDocument(CONTRIBUTING).split("| write | not |\n|---|---|\n");
  const rows = [...table.matchAll(/^\| [^|]* \| ([^|]*) \|$/gm)];
  return rows.flatMap(([, words = ""]) => words.split(", "));
}

/** A word and its usual endings: `mend` is also "mends", "mended" and "mending". Names with hyphens are no words. */
function patternOf(word: string): RegExp {
  return new RegExp(String.raw`(?<![\w-])${word.replaceAll(" ", String.raw`\s+`)}(?:s|ed|ing)?(?![\w-])`, "gi");
}

const WORDS = readWords();

/** A file's text without the list itself. */
function withoutList(path: string): string {
  return path === CONTRIBUTING ? readDocument(path).replaceAll(/^\|.*\|$/gm, "") : readDocument(path);
}

/** Each as `path:line word`. */
function findWords(path: string, prose: Prose): string[] {
  const spoken = proseOf(withoutList(path), prose);
  return WORDS.flatMap((word) =>
    [...spoken.matchAll(patternOf(word))].map((match) => {
      const line = spoken.slice(0, match.index).split("\n").length;
      return `${path}:${line} ${word}`;
    }),
  );
}

/** Lines of comments that are too wide, each as its number and width. */
function findWideComments(text: string): string[] {
  const isComment = /^\s*(?:\/\/|\/\*|\*|-- |# )|\s\/\/ /;
  return text
    .split("\n")
    .flatMap((line, index) =>
      line.length > MAX_COMMENT_COLUMNS && isComment.test(line) ? [`${index + 1} has ${line.length} columns`] : [],
    );
}

/** Names of limits that should begin with MAX_ or MIN_. */
function findLimitNames(text: string): string[] {
  return [...text.matchAll(/\bconst ((?:MOST|LEAST|LONGEST|LARGEST|SHORTEST|SMALLEST|DEEPEST)(?:_\w+)?)\b/g)].map(
    ([, name = ""]) => name,
  );
}

function findInSource(path: string): string[] {
  const others = [...findWideComments(readDocument(path)), ...findLimitNames(readDocument(path))];
  return [...findWords(path, PROSE["source"] as Prose), ...others.map((found) => `${path}:${found}`)];
}

const CODE = /^```[\s\S]*?^```$|`[^`\n]*`/gm;
const SENTENCE_START = /(?:^\s*(?:[-*] |\d+\. )?\**|[.!?][)*]* +)(?:That|Those|What)\b[^.]*/g;

/**
 * Sentences of a document that begin with a word of which readers do not know yet what it stands for: of paragraphs,
 * items and cells of tables, the generated ones too.
 */
function findVagueStarts(text: string): string[] {
  const parts = text
    .replaceAll(CODE, blank)
    .split(/\n\s*\n|\n(?=\s*(?:[-*|] ?|\d+\. ))| \| |\| /)
    .filter((part) => !/^\s*[#>]/.test(part));
  return parts.flatMap((part) => part.replaceAll("\n", " ").match(SENTENCE_START) ?? []);
}

const FILES = listFiles();
const SOURCES = FILES.filter((path) => path !== THIS_FILE && PROSE["source"]?.files.test(path));

test("the prose of the documents has no word of the list", () => {
  const documents = PROSE["documents"] as Prose;
  const files = FILES.filter((path) => documents.files.test(path));
  expect(files.length).toBeGreaterThan(10);
  expect(files.flatMap((path) => findWords(path, documents))).toEqual([]);
});

test("no sentence of the documents begins with That, Those or What", () => {
  const files = FILES.filter((path) => PROSE["documents"]?.files.test(path));
  expect(files.flatMap((path) => findVagueStarts(readDocument(path)).map((found) => `${path}: ${found}`))).toEqual([]);
  const text =
    "## What holds\n\nIt holds. Those\nare kept.\n\n- **What** is kept.\n\n| `a` | What it is. |\n\nSee what.";
  expect(findVagueStarts(text)).toEqual([". Those are kept", "- **What** is kept", "What it is"]);
});

test("no code has a word of the list, a comment line over 120 columns, or a limit that is not named MAX_ or MIN_", () => {
  expect(SOURCES.length).toBeGreaterThan(800);
  expect(SOURCES.flatMap(findInSource)).toEqual([]);
  expect(findWideComments(readDocument(".ci/run"))).toEqual([]);
});

test("configurations and style sheets are read as code", () => {
  expect(SOURCES).toEqual(
    expect.arrayContaining(["vitest.config.ts", "src/page/styles/main.css", ".ci/check-node.cjs"]),
  );
});

test("the test reads the word list, and finds its words in prose only", () => {
  expect(WORDS).toContain("mend");
  expect(WORDS.length).toBeGreaterThan(15);
  expect(proseOf("Mended.\n```sh\nmend\n```\n<!-- x -->\nmends\n<!-- /x -->\n", PROSE["documents"] as Prose)).toMatch(
    /^Mended\.\n\s*$/,
  );
  expect(proseOf('const mend = "mend it"; // mended', PROSE["source"] as Prose).match(patternOf("mend"))).toHaveLength(
    2,
  );
});

test.each([
  [`// ${"x".repeat(117)}`, []],
  [`// ${"x".repeat(118)}`, ["1 has 121 columns"]],
  [`\n/**\n * ${"x".repeat(118)}\n */`, ["3 has 121 columns"]],
  [`  -- ${"x".repeat(116)}`, ["1 has 121 columns"]],
  [`const text = "${"x".repeat(118)}";`, []],
])("the test finds lines of comments that are too wide in %j", (text, found) => {
  expect(findWideComments(text)).toEqual(found);
});

test("the search for names of limits finds them, also those of one word", () => {
  const code = "export const LONGEST_WAIT_MS = 1;\nconst MAX_WAIT_MS = 2;\nconst MOST = 3;";
  expect(findLimitNames(code)).toEqual(["LONGEST_WAIT_MS", "MOST"]);
});
