import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

// The public names of an entry file with the first sentence of each one's docstring, read from the declarations that
// ship.

const DIST = resolve(import.meta.dirname, "../../dist");

/** A name that an entry file exports. */
export interface PublicName {
  name: string;
  kind: "function" | "class" | "value" | "type";
  /** First sentence of the docstring; empty when there is none. */
  summary: string;
}

/** A sentence with fewer characters is joined by the next one. */
const SHORT = 30;

const KINDS: Record<string, PublicName["kind"]> = {
  function: "function",
  class: "class",
  const: "value",
  interface: "type",
  type: "type",
};

/** The public names of `pigeonhole/<entry>`, sorted by kind and name. */
export function readPublicNames(entry: string): PublicName[] {
  const order = Object.values(KINDS);
  return namesOf(join(DIST, `${entry}.d.ts`)).toSorted(
    (one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || (one.name < other.name ? -1 : 1),
  );
}

/** A table of the public names. Throws for one that has no docstring. */
export function referenceTable(entry: string): string {
  const rows = readPublicNames(entry).map(({ name, kind, summary }) => {
    if (summary === "") throw new Error(`${name} of pigeonhole/${entry} has no docstring.`);
    return `| \`${name}\` | ${kind} | ${summary.replaceAll("|", String.raw`\|`)} |`;
  });
  return ["| name | | |", "|---|---|---|", ...rows].join("\n");
}

function namesOf(file: string): PublicName[] {
  return readExports(file).map(({ name, original, from }) => ({ ...findDeclaration(original, from), name }));
}

/** The names that a file exports from others, with the files and the names there. */
function readExports(file: string): { name: string; original: string; from: string }[] {
  const text = readFileSync(file, "utf8");
  // A name may also be imported and then exported; what else is imported is never asked for.
  return [...text.matchAll(/^(?:export|import) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)].flatMap(
    ([, list = "", from = ""]) => {
      const names = list.split(",").map((name) => name.trim().replace(/^type /, ""));
      const path = join(dirname(file), from.replace(/\.js$/, ".d.ts"));
      return names
        .filter((name) => name !== "")
        .map((name) => {
          const [original = name, renamed = original] = name.split(" as ");
          return { name: renamed, original, from: path };
        });
    },
  );
}

function findDeclaration(name: string, file: string): PublicName {
  const onward = readExports(file).find((exported) => exported.name === name);
  if (onward !== undefined) return findDeclaration(onward.original, onward.from);
  const text = readFileSync(file, "utf8");
  const keywords = Object.keys(KINDS).join("|");
  const match = new RegExp(`^export (?:declare )?(?:abstract )?(${keywords}) ${name}\\b`, "m").exec(text);
  const kind = KINDS[match?.[1] ?? ""];
  if (match === null || kind === undefined) throw new Error(`${file} declares no ${name}.`);
  const [, comment = ""] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, match.index)) ?? [];
  return { name, kind, summary: firstSentence(comment) };
}

/** Without tags. */
function firstSentence(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*?\s?/, "").trim());
  const tag = lines.findIndex((line) => line.startsWith("@"));
  const words = (tag === -1 ? lines : lines.slice(0, tag)).join(" ").trim();
  const sentences = words.split(/(?<=\.)\s+(?=[A-Z`])/);
  const [first = "", second] = sentences;
  // "401." alone says too little.
  const summary = first.length < SHORT && second !== undefined ? `${first} ${second}` : first;
  return linked(summary);
}

/** Words of a docstring with their references as Markdown. */
export function linked(words: string): string {
  return words
    .replaceAll(/docs\/(service\.md#[\w-]+)/g, "[the service's rule]($1)")
    .replaceAll(/\{@link ([\w.]+)\}/g, "`$1`");
}
