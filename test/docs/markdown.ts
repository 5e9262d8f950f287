import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

// Reads the documents of the repository, for the tests that check or execute them.

const ROOT = resolve(import.meta.dirname, "../..");

/** The documents that readers get, as paths from the root. */
export const DOCUMENTS = [
  "README.md",
  "CHANGELOG.md",
  ".github/CONTRIBUTING.md",
  "skills/pigeonhole/SKILL.md",
  ...listPages(),
];

function listPages(): string[] {
  const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  return pages.toSorted().map((name) => `docs/${name}`);
}

/** The text of a file of the repository. */
export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The fenced blocks of a language, each with the comment in the line before it. */
export function blocksOf(text: string, language: string): { block: string; remark: string }[] {
  const found = text.matchAll(new RegExp(`(?:^<!-- (.*) -->\n)?^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return [...found].map(([, remark = "", block = ""]) => ({ block, remark }));
}

/** A table; the first column of `head` may have no name. */
export function tableOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`.replaceAll("|  |", "| |");
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** Without fenced blocks and code in lines. */
export function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]*`/g, "");
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** Ids of headings, as GitHub makes them. */
export function anchorsOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
