import { readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

// The words that CONTRIBUTING bans, in the prose of every document. With `WORDS=source` the comments, strings and JSX
// texts of src/ are checked too.

const ROOT = resolve(import.meta.dirname, "../..");
const CONTRIBUTING = ".github/CONTRIBUTING.md";
const SKIPPED = new Set(["node_modules", "dist", ".git"]);

interface Prose {
  files: RegExp;
  /** What is prose in a file: everything but the first, or nothing but the second. */
  without?: RegExp;
  only?: RegExp;
}

const PROSE: Record<string, Prose> = {
  // Generated parts speak the words of src/.
  documents: { files: /\.md$/, without: /<!-- ([\w -]+) -->\n[\s\S]*?<!-- \/\1 -->|^```[\s\S]*?^```$|`[^`\n]*`/gm },
  source: {
    files: /^src\/.*\.tsx?$/,
    only: /\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|>[^<>{}]*(?=<\/)/g,
  },
};

const CHECKED = process.env["WORDS"] === "source" ? ["documents", "source"] : ["documents"];

function listFiles(folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listFiles(path);
    return [relative(ROOT, path)];
  });
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
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
  const [, table = ""] = read(CONTRIBUTING).split("| write | not |\n|---|---|\n");
  const rows = [...table.matchAll(/^\| [^|]* \| ([^|]*) \|$/gm)];
  return rows.flatMap(([, words = ""]) => words.split(", "));
}

/** A word and its usual endings: `mend` is also "mends", "mended" and "mending". */
function patternOf(word: string): RegExp {
  return new RegExp(String.raw`(?<!\w)${word.replaceAll(" ", String.raw`\s+`)}(?:s|ed|ing)?(?!\w)`, "gi");
}

const WORDS = readWords();

/** Each as `path:line word`. */
function findWords(path: string, prose: Prose): string[] {
  const text = path === CONTRIBUTING ? read(path).replaceAll(/^\|.*\|$/gm, "") : read(path);
  const spoken = proseOf(text, prose);
  return WORDS.flatMap((word) =>
    [...spoken.matchAll(patternOf(word))].map((match) => {
      const line = spoken.slice(0, match.index).split("\n").length;
      return `${path}:${line} ${word}`;
    }),
  );
}

test.each(CHECKED)("the prose of %s has no word of the list", (kind) => {
  const prose = PROSE[kind] as Prose;
  const files = listFiles().filter((path) => prose.files.test(path));
  expect(files.length).toBeGreaterThan(10);
  expect(files.flatMap((path) => findWords(path, prose))).toEqual([]);
});

test("the list is read, and its words are found where they are prose", () => {
  expect(WORDS).toContain("mend");
  expect(WORDS.length).toBeGreaterThan(15);
  expect(proseOf("Mended.\n```sh\nmend\n```\n<!-- x -->\nmends\n<!-- /x -->\n", PROSE["documents"] as Prose)).toMatch(
    /^Mended\.\n\s*$/,
  );
  expect(proseOf('const mend = "mend it"; // mended', PROSE["source"] as Prose).match(patternOf("mend"))).toHaveLength(
    2,
  );
});
