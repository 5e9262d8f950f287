import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

// The files of the repository, and the imports of those of src/, read as text.

export const ROOT = resolve(import.meta.dirname, "../..");
export const SRC = join(ROOT, "src");

interface Import {
  from: string;
  specifier: string;
}

const SKIPPED = ["node_modules", "dist", ".git"];

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.includes(entry.name) ? [] : listFiles(path);
    return [relative(ROOT, path)];
  });
}

/** All files of the repository, by their path from its root. */
export const FILES = listFiles(ROOT);
export const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const TEXTS: ReadonlyMap<string, string> = new Map(
  FILES.filter((path) => /^src\/.*\.tsx?$/.test(path)).map((path) => [join(ROOT, path), read(path)]),
);
/** The modules of src/, by their whole path. */
export const files: readonly string[] = [...TEXTS.keys()];
export const textOf = (file: string): string => TEXTS.get(file) ?? "";

export function importsOf(file: string): Import[] {
  const found = textOf(file).matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)"([^"]+)"/gm);
  return [...found].map(([, specifier = ""]) => ({ from: file, specifier }));
}

export function fileOf({ from, specifier }: Import): string[] {
  const path = resolve(dirname(from), specifier).replace(/\.js$/, "");
  return [`${path}.ts`, `${path}.tsx`].filter((file) => TEXTS.has(file));
}

const imports = files.flatMap(importsOf);
export const relativeImports = imports.filter(({ specifier }) => specifier.startsWith("."));
export const packageImports = imports.filter(({ specifier }) => !/^(\.|node:)/.test(specifier));

/** The files that a file loads at once: neither types nor what it loads only when it needs it. */
function loadedBy(file: string): string[] {
  const found = textOf(file).matchAll(/^(?:import|export) (?!type\b)(?:[^;]*?from )?"(\.[^"]+)"/gm);
  return [...found].flatMap(([, specifier = ""]) => fileOf({ from: file, specifier }));
}

/** All files that are loaded with these. */
export function loadedWith(entries: readonly string[]): string[] {
  const [loaded, left] = [new Set<string>(), [...entries]];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    left.push(...loadedBy(file));
  }
  return [...loaded];
}

/** The room of a file; undefined for an entry file. */
export function roomOf(file: string): string | undefined {
  const path = relative(SRC, file);
  return path.includes("/") ? path.split("/")[0] : undefined;
}
