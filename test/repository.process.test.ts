import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { anchorsOf } from "./docs/markdown.js";
import { makeFolder } from "./support/folder.js";
import { hasPostgres, isRoot } from "./support/tools.js";

// What holds for the repository itself: its functions, its kinds of tests, its workflows, its lockfile, its words and
// its citations. `architecture.test.ts` has its modules.

const ROOT = resolve(import.meta.dirname, "..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const SKIPPED = new Set(["node_modules", "dist", ".git"]);

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

function listFiles(folder = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listFiles(path);
    return [relative(ROOT, path)];
  });
}

const FILES = listFiles();

/** Of a function in `src/`. One that holds others counts with them; a class is none, its methods are. */
const MAX_LINES = 60;

interface Diagnostic {
  message: string;
  filename: string;
}

/** Functions of more than `max` lines in these paths, as oxlint counts them: file, name and lines. */
function longFunctions(paths: readonly string[], max: number): Record<string, number> {
  const folder = makeFolder();
  const config = join(folder, "oxlintrc.json");
  const rules = { "max-lines-per-function": ["error", { max, IIFEs: true }] };
  writeFileSync(config, JSON.stringify({ categories: { correctness: "off" }, plugins: [], rules }));
  const program = join(ROOT, "node_modules/oxlint/bin/oxlint");
  const options = { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const child = spawnSync(process.execPath, [program, "--config", config, "--format", "json", ...paths], options);
  const { diagnostics } = JSON.parse(child.stdout) as { diagnostics: Diagnostic[] };
  const found: Record<string, number> = {};
  for (const { message, filename } of diagnostics) {
    const [, name = "(no name)", lines] = /(?:`([^`]*)` )?has too many lines \((\d+)\)/.exec(message) ?? [];
    expect(lines, message).toBeDefined();
    const place = `${filename.replace(/^.*?src\//, "")} ${name}`;
    found[place] = Math.max(found[place] ?? 0, Number(lines));
  }
  return found;
}

describe("the length of functions", () => {
  test("the length of a function includes inner functions, and methods count on their own", () => {
    const long = longFunctions(["src/dispatch/dispatcher.ts", "src/store/sqlite/sqlite-store.ts"], 5);
    const dispatcher = read("src/dispatch/dispatcher.ts").split("\n").length;
    expect(Math.max(...Object.values(long))).toBe(long["store/sqlite/sqlite-store.ts createSqliteStore"]);
    expect(long["dispatch/dispatcher.ts stop"]).toBeGreaterThan(5);
    expect(
      Object.entries(long).filter(([name, lines]) => name.startsWith("dispatch") && lines > dispatcher / 2),
    ).toEqual([]);
  });

  test(`each function of src has at most ${MAX_LINES} lines`, () => {
    expect(longFunctions(["src"], MAX_LINES)).toEqual({});
  });
});

const IMPORT = /(?:from|import\()\s*"(\.[^"]+)"/g;
const FORBIDDEN = /"(?:node:child_process|playwright-core)"/;

function listUnitTests(): string[] {
  const projects = ["--project", "fast", "--project", "unit"];
  const args = [VITEST, "list", ...projects, "--filesOnly", "--json"];
  const listed = execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  return (JSON.parse(listed) as { file: string }[]).map(({ file }) => file);
}

/** The file, and what it imports from `test/`. */
function reach(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, target = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    const path = resolve(dirname(file), target).replace(/\.js$/, ".ts");
    if (path.endsWith(".ts") && existsSync(path)) reach(path, found);
  }
  return found;
}

test("unit tests start no process and no browser, otherwise the file's name ends in .process.test.ts", () => {
  const files = listUnitTests();
  expect(files.length).toBeGreaterThan(100);
  const guilty = files.filter((file) => [...reach(file)].some((path) => FORBIDDEN.test(readFileSync(path, "utf8"))));
  expect(guilty.map((file) => relative(ROOT, file))).toEqual([]);
});

test("a run names each skipped group of tests in one line, with what is missing", () => {
  const files = ["test/quiet.process.test.ts", "test/torture/power-loss.test.ts", "test/dispatch/pauses.test.ts"];
  const args = [VITEST, "run", ...files, "--testNamePattern", "no such test"];
  const env = { ...process.env, PATH: "", NO_COLOR: "1" };
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" });
  const lines = (stdout + stderr).match(/^Skipped .*$/gm) ?? [];
  const tools = ["cc", "script of util-linux", "strace", "promtool of Prometheus", "openssl"];
  const missing = [
    "a store in memory that keeps its data",
    ...(hasPostgres() ? [] : ["PostgreSQL"]),
    ...tools,
    ...["/proc of Linux", "/sys of Linux", "/dev/full"].filter((path) => !existsSync(path.split(" ")[0] ?? path)),
    isRoot() ? "a user other than root" : "root",
    ...(hasPostgres() ? [] : ["PostgreSQL"]),
    "cc",
  ];
  // The files run at the same time, so their lines come in any order.
  expect(lines.map((line) => /without (.*?):/.exec(line)?.[1] ?? line).toSorted()).toEqual(missing.toSorted());
});

describe("the step of the publish workflow that compares the repository", () => {
  const workflow = read(".github/workflows/publish.yml");
  const [, command = ""] = /package\.json names this repository[\s\S]*?run: (.*)/.exec(workflow) ?? [];
  const passes = (repository: string) =>
    spawnSync("sh", ["-c", command], { cwd: ROOT, env: { ...process.env, REPOSITORY: repository } }).status === 0;

  test("the step of the publish workflow passes in the repository that package.json names", () => {
    const { repository } = JSON.parse(read("package.json")) as { repository: { url: string } };
    const [, named = ""] = /github\.com\/(.*)\.git$/.exec(repository.url) ?? [];
    expect(passes(named)).toBe(true);
  });

  test("the step of the publish workflow fails in any other repository, and while package.json has the placeholder", () => {
    expect(passes("somewhere/pigeonhole")).toBe(false);
  });
});

test("the publish workflow asks for the right to sign its provenance, and tests every supported Node", () => {
  const workflow = read(".github/workflows/publish.yml");
  const [, tests = "", publish = ""] = workflow.split(/^(?:jobs| {2}publish):$/m);
  expect(publish).toMatch(/^ +needs: test$/m);
  expect(publish).toMatch(/^ +id-token: write/m);
  expect(publish).toContain("npm publish --provenance");
  // What runs the code of development dependencies can neither sign nor publish.
  expect(tests).not.toMatch(/id-token|NPM_TOKEN/);
  expect(publish).not.toMatch(/\.ci\/run|npm (?:test|run)|npm ci(?! --ignore-scripts)/);
  const ci = read(".github/workflows/ci.yml");
  expect(ci).toMatch(/- run: \.ci\/run --shard /m);
  expect(read(".ci/run")).toMatch(/^npm test\nnpm run test:rest -- "\$@"$/m);
  expect(tests).toMatch(/- run: npm run test:versions$/m);
  expect(read("test/versions/main.ts")).toContain('default: "20,22,24,26"');
});

test.each(["ci", "nightly", "publish"])("the actions of the workflow %s are pinned by digest", (name) => {
  const uses = read(`.github/workflows/${name}.yml`).match(/uses: .*/g) ?? [];
  expect(uses.length).toBeGreaterThan(1);
  for (const line of uses) expect(line).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test("the lockfile says that better-sqlite3 has nothing to compile, so that npm does not need Python", () => {
  const lock = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { version: string; gypfile?: boolean }>;
  };
  const driver = lock.packages["node_modules/better-sqlite3"];
  expect(driver?.version).toMatch(/^13\./);
  // npm install drops the line; write it again.
  expect(driver?.gypfile, 'package-lock.json: "gypfile": false of node_modules/better-sqlite3').toBe(false);
});

// The rules of CONTRIBUTING about words: those it bans, in the prose of every document and in the comments, strings,
// titles of tests and JSX texts of all code; and the width of comments and the names of limits in all code.
const CONTRIBUTING = ".github/CONTRIBUTING.md";
/** It has the words as samples. */
const THIS_FILE = "test/repository.process.test.ts";
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
