import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

// Reads the declarations as the compiler writes them; those of the entries ship. Text is enough for that: the compiler
// that is installed has no API, and its output has one form.

export const DIST = resolve(import.meta.dirname, "../../dist/.tsc");

/** A declaration of a file, wherever the name was exported from. */
export interface Declaration {
  name: string;
  file: string;
  /** Its keyword: interface, type, class, function or const. */
  keyword: string;
  /** The text between the marks of its docstring; empty when there is none. */
  comment: string;
  /** From its keyword to its end. */
  text: string;
}

/** A name that a file has from another one. */
export interface ForeignName {
  name: string;
  /** Its name there. */
  original: string;
  from: string;
}

/** The names that a file exports or imports from others of this package, with the files and the names there. */
export function readForeignNames(file: string): ForeignName[] {
  const text = readFileSync(file, "utf8");
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

/** The declaration behind a name of a file; undefined for a name of another package, or none at all. */
export function findDeclaration(name: string, file: string): Declaration | undefined {
  const onward = readForeignNames(file).find((foreign) => foreign.name === name);
  if (onward !== undefined) return findDeclaration(onward.original, onward.from);
  const text = readFileSync(file, "utf8");
  const found = new RegExp(
    String.raw`^(?:export )?(?:declare )?(?:abstract )?(interface|type|class|function|const) ${name}\b`,
    "m",
  ).exec(text);
  if (found === null) return undefined;
  const [, comment = ""] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, found.index)) ?? [];
  return { name, file, keyword: found[1] ?? "", comment, text: textOf(text.slice(found.index)) };
}

/** Up to the line before the next declaration or docstring that stands at the beginning of a line. */
function textOf(rest: string): string {
  const end = rest.slice(1).search(/^(?:export|declare|import|interface|type|class|\/\*\*|\/\/)/m);
  return end === -1 ? rest : rest.slice(0, end + 1);
}

/** A docstring's text without the marks of a comment, as one line. */
export function wordsOf(comment: string): string {
  return linesOf(comment).join(" ").trim();
}

/** The lines of a docstring without the marks of a comment. */
export function linesOf(comment: string): string[] {
  return comment.split("\n").map((line) => line.replace(/^\s*\*?\s?/, "").trim());
}
