import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { anchorsOf } from "../docs/markdown.js";
import { FILES, ROOT, read } from "./repository.js";

// The rules of CONTRIBUTING about words: those it bans, in the prose of every document and in the comments, strings,
// titles of tests and JSX texts of all code; and the width of comments and the names of limits in all code.
const CONTRIBUTING = ".github/CONTRIBUTING.md";
/** It has the words as samples. */
const THIS_FILE = "test/repository/words.process.test.ts";
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
  const [, table = ""] = read(CONTRIBUTING).split("| write | not |\n|---|---|\n");
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
  return path === CONTRIBUTING ? read(path).replaceAll(/^\|.*\|$/gm, "") : read(path);
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
  const others = [...findWideComments(read(path)), ...findLimitNames(read(path))];
  return [...findWords(path, PROSE["source"] as Prose), ...others.map((found) => `${path}:${found}`)];
}

const CODE = /^```[\s\S]*?^```$|`[^`\n]*`/gm;
const SENTENCE_START = /(?:^\s*(?:[-*] |\d+\. |#+ )?\**|[.!?][)*]* +)(?:That|Those|What)\b[^.]*/g;

/**
 * Sentences of a document that begin with a word of which readers do not know yet what it stands for: of headings,
 * paragraphs, items and cells of tables, the generated ones too.
 */
function findVagueStarts(text: string): string[] {
  const parts = text
    .replaceAll(CODE, blank)
    .split(/\n\s*\n|\n(?=\s*(?:[-*|] ?|\d+\. ))| \| |\| /)
    .filter((part) => !/^\s*>/.test(part));
  return parts.flatMap((part) => part.replaceAll("\n", " ").match(SENTENCE_START) ?? []);
}

const SOURCES = FILES.filter((path) => path !== THIS_FILE && PROSE["source"]?.files.test(path));

const DOCUMENTS = FILES.filter((path) => path.endsWith(".md"));

test("the prose of the documents has no word of the list", () => {
  expect(DOCUMENTS.length).toBeGreaterThan(10);
  expect(DOCUMENTS.flatMap((path) => findWords(path, PROSE["documents"] as Prose))).toEqual([]);
});

test("no sentence of the documents begins with That, Those or What", () => {
  expect(DOCUMENTS.flatMap((path) => findVagueStarts(read(path)).map((found) => `${path}: ${found}`))).toEqual([]);
  const text =
    "## What holds\n\nIt holds. Those\nare kept.\n\n- **What** is kept.\n\n| `a` | What it is. |\n\nSee what.";
  expect(findVagueStarts(text)).toEqual(["## What holds", ". Those are kept", "- **What** is kept", "What it is"]);
});

test("no code has a word of the list, a comment line over 120 columns, or a limit that is not named MAX_ or MIN_", () => {
  expect(SOURCES.length).toBeGreaterThan(800);
  expect(SOURCES.flatMap(findInSource)).toEqual([]);
  expect(findWideComments(read(".ci/run"))).toEqual([]);
});

test("the searches find words in prose only, comments that are too wide, and names of limits", () => {
  expect(SOURCES).toEqual(
    expect.arrayContaining(["vitest.config.ts", "src/page/styles/main.css", ".ci/check-node.cjs"]),
  );
  expect(WORDS).toContain("mend");
  expect(WORDS.length).toBeGreaterThan(15);
  const document = proseOf("Mended.\n```sh\nmend\n```\n<!-- x -->\nmends\n<!-- /x -->\n", PROSE["documents"] as Prose);
  expect(document).toMatch(/^Mended\.\n\s*$/);
  const source = proseOf('const mend = "mend it"; // mended', PROSE["source"] as Prose);
  expect(source.match(patternOf("mend"))).toHaveLength(2);
  const comments = [`// ${"x".repeat(117)}`, `// ${"x".repeat(118)}`, "/**", ` * ${"x".repeat(118)}`, ` */`];
  const others = [`  -- ${"x".repeat(116)}`, `const text = "${"x".repeat(118)}";`];
  const wide = ["2 has 121 columns", "4 has 121 columns", "6 has 121 columns"];
  expect(findWideComments([...comments, ...others].join("\n"))).toEqual(wide);
  const code = "export const LONGEST_WAIT_MS = 1;\nconst MAX_WAIT_MS = 2;\nconst MOST = 3;";
  expect(findLimitNames(code)).toEqual(["LONGEST_WAIT_MS", "MOST"]);
});

// Comments that follow a rule of the service cite a section of docs/service.md, and nothing that a reader cannot open.
const CITING = FILES.filter((path) =>
  /^(?:(?:src|test|examples|templates|docs)\/.*\.(?:tsx?|mjs|md|sql|css)|README\.md)$/.test(path),
);

test("every citation of a page or section of docs/ leads to an existing one", () => {
  const cited = CITING.flatMap((path) =>
    [...read(path).matchAll(/\bdocs\/[\w-]+\.md(?:#([\w-]+))?/g)].map(([place, anchor]) => ({ path, place, anchor })),
  );
  expect(cited.filter(({ anchor }) => anchor !== undefined).length).toBeGreaterThan(50);
  const broken = cited.filter(({ place, anchor }) => {
    const [page = ""] = place.split("#");
    return !existsSync(join(ROOT, page)) || (anchor !== undefined && !anchorsOf(read(page)).includes(anchor));
  });
  expect(broken).toEqual([]);
});

test("no file cites a document that is not in the repository", () => {
  // A section sign is for standards that anyone can open.
  const foreign = /\bseeds? part\b|\bthe seeds leave\b|(?<!\bRFC \d+ (?:§[\d.]+ to )?)§/gi;
  const found = CITING.filter((path) => path !== THIS_FILE).flatMap((path) =>
    (read(path).match(foreign) ?? []).map((words) => `${path}: ${words}`),
  );
  expect(found).toEqual([]);
});
