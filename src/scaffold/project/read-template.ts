import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGE_FOLDER } from "../../base/package-folder.js";
import { PigeonholeError } from "../../base/error.js";

const TEMPLATES_FOLDER = fileURLToPath(new URL("templates/", PACKAGE_FOLDER));

/** A template's files by path in the project. A file of several layers has one text per layer, the lowest first. */
export type TemplateFiles = ReadonlyMap<string, readonly [string, ...string[]]>;

/** Reads the layers of a template from this package, the lowest first; needs no network. */
export function readTemplate(layers: readonly string[]): TemplateFiles {
  const files = new Map<string, [string, ...string[]]>();
  for (const layer of layers) {
    const folder = join(TEMPLATES_FOLDER, layer);
    for (const path of listFiles(folder)) {
      const text = readTemplateFile(`${layer}/${path}`);
      const inProject = realPath(path);
      const below = files.get(inProject);
      files.set(inProject, below === undefined ? [text] : [...below, text]);
    }
  }
  return files;
}

/** The text of a file under `templates/`. */
export function readTemplateFile(path: string): string {
  return readFileSync(join(TEMPLATES_FOLDER, path), "utf8");
}

function listFiles(folder: string, path = ""): string[] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
    const inside = path === "" ? entry.name : `${path}/${entry.name}`;
    return entry.isDirectory() ? listFiles(folder, inside) : [inside];
  });
}

/**
 * npm omits `.gitignore` from a package and treats a nested `package.json` as a package, so templates use other names
 * for both.
 */
function realPath(path: string): string {
  if (path === "_package.json") return "package.json";
  return path.replaceAll(/(^|\/)_(?!_)/g, "$1.");
}

/** Replaces `{{name}}` by values. Throws for a name without a value: the template does not fit this package. */
export function fillTemplate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{([\w-]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value !== undefined) return value;
    throw new PigeonholeError("invalid_argument", `The template has no value for {{${name}}}.`);
  });
}

/**
 * Keeps the text between `<!-- if name -->` and `<!-- end name -->` if the name's value is true, and removes it
 * otherwise.
 */
export function keepSections(text: string, sections: Readonly<Record<string, boolean>>): string {
  return Object.entries(sections).reduce((rest, [name, isKept]) => {
    const section = new RegExp(`<!-- if ${name} -->\\n([\\s\\S]*?)<!-- end ${name} -->\\n`, "g");
    return rest.replaceAll(section, isKept ? "$1" : "");
  }, text);
}
