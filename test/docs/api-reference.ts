import { join } from "node:path";
import { DIST, findDeclaration, linesOf, readForeignNames } from "./declarations.js";

// The public names of an entry file with the first sentence of each one's docstring, read from the declarations that
// ship.

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

/** The entries in the order of the page. */
export const ENTRIES = ["index", "client", "dashboard", "postgres", "protocol", "sandbox", "store", "testing"];

/** The public names of `pigeonhole/<entry>`, sorted by kind and name. */
export function readPublicNames(entry: string): PublicName[] {
  const order = Object.values(KINDS);
  return namesOf(join(DIST, `${entry}.d.ts`)).toSorted(
    (one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || (one.name < other.name ? -1 : 1),
  );
}

/** A table of what runs, and a list of the types. Throws for a name that has no docstring. */
export function referenceTable(entry: string): string {
  const earlier = new Map(
    ENTRIES.slice(0, ENTRIES.indexOf(entry)).flatMap((other) =>
      readPublicNames(other).map(({ name }) => [name, other]),
    ),
  );
  const all = readPublicNames(entry);
  const names = all.filter(({ name }) => !earlier.has(name));
  const again = all.flatMap(({ name }) => (earlier.has(name) ? [`\`${name}\``] : []));
  const bare = names.find(({ summary }) => summary === "");
  if (bare !== undefined) throw new Error(`${bare.name} of pigeonhole/${entry} has no docstring.`);
  const rows = names
    .filter(({ kind }) => kind !== "type")
    .map(({ name, summary }) => `| \`${name}\` | ${summary.replaceAll("|", String.raw`\|`)} |`);
  const types = names.filter(({ kind }) => kind === "type").map(({ name }) => `\`${name}\``);
  const lists = [
    types.length === 0 ? "" : `Types: ${types.join(", ")}.`,
    again.length === 0 ? "" : `As above: ${again.join(", ")}.`,
  ];
  const table = rows.length === 0 ? "" : ["| name | |", "|---|---|", ...rows].join("\n");
  return [table, ...lists].filter(Boolean).join("\n\n");
}

function namesOf(file: string): PublicName[] {
  return readForeignNames(file).map(({ name, original, from }) => {
    const declaration = findDeclaration(original, from);
    const kind = KINDS[declaration?.keyword ?? ""];
    if (declaration === undefined || kind === undefined) throw new Error(`${from} declares no ${original}.`);
    return { name, kind, summary: firstSentence(declaration.comment) };
  });
}

/** Without tags. */
function firstSentence(comment: string): string {
  const lines = linesOf(comment);
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
