import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { ENTRIES } from "./api-reference.js";
import { type Declaration, DIST, findDeclaration, readForeignNames } from "./declarations.js";

// Each field of an interface or class that a user of the package can meet has a docstring of its own, which editors
// show: those of the entry points, and those that these are made of.

/** Members that every class of errors has, and whose meaning is JavaScript's. */
const OF_EVERY_ERROR = new Set(["constructor", "name"]);

/** Every declaration that a name of the entry points leads to. */
function readReachable(): Declaration[] {
  const found = new Map<string, Declaration>();
  const visit = (name: string, file: string): void => {
    const declaration = findDeclaration(name, file);
    if (declaration === undefined) return;
    const key = `${declaration.file} ${declaration.name}`;
    if (found.has(key)) return;
    found.set(key, declaration);
    const code = declaration.text.replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const used of new Set(code.match(/\b[A-Z]\w*/g))) visit(used, declaration.file);
  };
  for (const entry of ENTRIES) {
    const file = join(DIST, `${entry}.d.ts`);
    for (const { name } of readForeignNames(file)) visit(name, file);
  }
  return [...found.values()];
}

/** The members of an interface or class, in order: those with a docstring of their own, and those without. */
function readMembers(text: string): { documented: string[]; bare: string[] } {
  const members = { documented: new Set<string>(), bare: new Set<string>() };
  let isDocumented = false;
  for (const line of text.split("\n")) {
    // The members of the declaration itself stand four columns in.
    const [, name] = /^ {4}(?!private |#)(?:static |readonly |get )*(\w+)(?:\??:|\(|<)/.exec(line) ?? [];
    if (name !== undefined) members[isDocumented ? "documented" : "bare"].add(name);
    isDocumented = line.endsWith("*/");
  }
  // One docstring is enough for all overloads of a function.
  const bare = [...members.bare].filter((name) => !members.documented.has(name) && !OF_EVERY_ERROR.has(name));
  return { documented: [...members.documented], bare };
}

const REACHABLE = readReachable().filter(({ keyword }) => keyword === "interface" || keyword === "class");

test("every field of a public interface or class has a docstring of its own", () => {
  const bare = REACHABLE.flatMap(({ name, file, text }) =>
    readMembers(text).bare.map((field) => `${relative(DIST, file)} ${name}.${field}`),
  );
  expect(bare).toEqual([]);
});

test("the search finds interfaces that no entry point exports, classes, and their fields with and without a docstring", () => {
  const fields = new Map(REACHABLE.map(({ name, text }) => [name, readMembers(text).documented]));
  expect(fields.get("LeasedWork")).toContain("attempt");
  expect(fields.get("ApiError")).toEqual(expect.arrayContaining(["status", "param"]));
  expect(fields.get("Receiver")).toEqual(expect.arrayContaining(["on", "fetch", "inbox"]));
  const sample = "interface Row {\n    /** Its id. */\n    readonly id: string;\n    state: string;\n    #hidden;\n}";
  expect(readMembers(sample)).toEqual({ documented: ["id"], bare: ["state"] });
});
