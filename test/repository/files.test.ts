import { readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { SRC, files, loadedWith, relativeImports, roomOf, textOf } from "./repository.js";

describe("the command line", () => {
  const CLI = join(SRC, "cli");
  const inCli = files.filter((file) => file.startsWith(`${CLI}/`)).map((file) => relative(CLI, file));
  /** The folders that belong to no command: an app that they start, how they are run, and values that several read. */
  const common = ["app", "frame", "values"];
  const folders = [...new Set(inCli.filter((file) => file.includes("/")).map((file) => dirname(file)))];
  const commands = folders.filter((folder) => !common.includes(folder));

  test("the command line has a folder for each command, with its spec and its code", () => {
    expect(commands.length).toBeGreaterThan(10);
    for (const folder of commands) {
      expect(inCli, folder).toEqual(expect.arrayContaining([`${folder}/spec.ts`, `${folder}/run.ts`]));
    }
  });

  test("the command line loads the specs, and the code of no command, before it knows the command", () => {
    const code = loadedWith([join(CLI, "main.ts")])
      .map((file) => relative(CLI, file))
      .filter((file) => commands.includes(dirname(file)));
    expect(code.toSorted()).toEqual(commands.map((folder) => `${folder}/spec.ts`).toSorted());
  });

  test("no command imports another one, except init, which can add to an app", () => {
    const known = relativeImports.flatMap(({ from, specifier }) => {
      const [user, used] = [relative(CLI, dirname(from)), relative(CLI, dirname(resolve(dirname(from), specifier)))];
      return user !== used && commands.includes(user) && commands.includes(used) ? [`${user} → ${used}`] : [];
    });
    expect([...new Set(known)]).toEqual(["init → add"]);
  });

  test("commands use the folder, the environment and the streams of their context, not of the process", () => {
    const own = /\bprocess\.(?:argv|chdir|cwd|env|exit|stdin|stdout|stderr)\b(?!\.\$)/;
    const found = files.filter((file) => roomOf(file) === "cli" && own.test(textOf(file)));
    expect(found.map((file) => relative(SRC, file))).toEqual(["cli/bin.ts"]);
  });

  test("the shared folders of the command line import no command", () => {
    const known = relativeImports.filter(({ from, specifier }) => {
      const used = relative(CLI, dirname(resolve(dirname(from), specifier)));
      return common.includes(relative(CLI, dirname(from))) && (commands.includes(used) || used === "");
    });
    expect(known).toEqual([]);
  });
});

describe("the entry files", () => {
  const entries = files.filter((file) => roomOf(file) === undefined);

  test("the entry files only re-export by name", () => {
    for (const entry of entries) {
      const statements = textOf(entry)
        .replaceAll(/\/\*[\s\S]*?\*\//g, "")
        .split(/;\s*\n/);
      const others = statements.filter(
        (statement) => statement.trim() !== "" && !/^\s*export (type )?\{/.test(statement),
      );
      expect(others, basename(entry)).toEqual([]);
    }
  });

  test("the entry files are the package's exports, one to one", () => {
    const { exports } = JSON.parse(readFileSync(resolve(SRC, "../package.json"), "utf8")) as {
      exports: Record<string, unknown>;
    };
    const exported = Object.keys(exports).filter((path) => path !== "./package.json");
    const wanted = entries.map((entry) => basename(entry, ".ts")).map((name) => (name === "index" ? "." : `./${name}`));
    expect(exported.toSorted()).toEqual(wanted.toSorted());
  });
});

/** The names that a file declares and exports. */
function exportsOf(file: string): string[] {
  const declared = textOf(file).matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm,
  );
  return [...new Set([...declared].map(([, name = ""]) => name))];
}

/** `parseWholeNumber` → parse, whole, number; plurals and verb forms count as their stem. */
function stemsOf(name: string): string[] {
  const words = name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "-")
    .toLowerCase()
    .split(/[-_.]/);
  return words.map((word) => word.replace(/(?:ies|s|ed|ing|e)$/, "").replace(/(?:e|y)$/, ""));
}

describe("the files", () => {
  /** Names of its exports repeat those of other commands: `run`, `list`. */
  const isCommandFile = (file: string): boolean => /^cli\/\w+\/(?:spec|run)\.ts$/.test(relative(SRC, file));

  /** Files of several small parts, named after what these have in common. */
  const collections = [
    "base/http.ts",
    "base/text.ts",
    "base/wait.ts",
    "contract/shapes.ts",
    "operator/states.ts",
    "page/api/calls.ts",
    "page/state/actions.ts",
    "page/state/address.ts",
  ];

  test("each file is named after something that it exports", () => {
    const others = files.flatMap((file) => {
      const path = relative(SRC, file);
      if (roomOf(file) === undefined || isCommandFile(file)) return [];
      const exported = exportsOf(file).flatMap(stemsOf);
      const isNamed = stemsOf(basename(file).replace(/\.tsx?$/, "")).some((stem) => exported.includes(stem));
      return isNamed || exported.length === 0 ? [] : [path];
    });
    expect(others).toEqual(collections);
  });

  test("each exported name is declared in one file", () => {
    const declaredIn = new Map<string, string[]>();
    for (const file of files.filter((path) => !isCommandFile(path))) {
      for (const name of exportsOf(file)) {
        declaredIn.set(name, [...(declaredIn.get(name) ?? []), relative(SRC, file)]);
      }
    }
    expect(declaredIn.size).toBeGreaterThan(1000);
    expect([...declaredIn].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });
});

describe("what was thrown", () => {
  test("the message and the name of an unknown error are read in one file", () => {
    const all = files.filter((file) => /instanceof Error\s*\?\s*[\w.]+\.(?:message|name)\s*:/.test(textOf(file)));
    expect(all.map((file) => relative(SRC, file))).toEqual(["base/error-text.ts"]);
  });
});

describe("the error codes", () => {
  test("each error code is used somewhere", () => {
    const list = textOf(resolve(SRC, "base/error.ts"));
    const codes = [...list.matchAll(/^ {2}(\w+): "/gm)].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(15);
    const rest = files.filter((file) => !file.endsWith("base/error.ts")).map((file) => textOf(file));
    expect(codes.filter((code) => !rest.some((text) => text.includes(`"${code}"`)))).toEqual([]);
  });
});
