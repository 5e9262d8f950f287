import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

/** The rooms under src/ and what each may import. The table in docs/architecture.md is compared with this one. */
const ROOMS: Record<string, readonly string[]> = {
  base: [],
  protocol: ["base"],
  contract: ["base", "protocol"],
  store: ["base", "protocol"],
  operator: ["base", "protocol", "store"],
  client: ["base", "contract"],
  outbox: ["base", "contract", "store", "operator", "client"],
  dispatch: ["base", "protocol", "contract", "store", "client", "outbox"],
  http: ["base", "protocol"],
  receiver: ["base", "protocol", "contract", "store", "operator", "outbox", "dispatch", "client", "http"],
  sandbox: ["base", "protocol", "contract"],
  capture: ["base", "protocol"],
  web: ["base", "protocol", "capture", "store", "operator"],
  testing: ["base", "protocol", "store", "receiver", "sandbox", "capture"],
  dev: ["base", "protocol", "contract", "store", "operator", "client", "sandbox", "capture", "web"],
  dashboard: ["base", "protocol", "capture", "store", "operator", "receiver", "http", "web"],
  page: ["base", "protocol", "capture", "store", "operator", "web", "dev", "dashboard"],
  scaffold: ["base", "protocol"],
  cli: [
    "base",
    "protocol",
    "contract",
    "store",
    "operator",
    "client",
    "receiver",
    "sandbox",
    "capture",
    "dev",
    "scaffold",
  ],
};

/** Lines that each room may have at most, as `npm run weight` counts them; what raises one says why in its commit. */
const CEILINGS: Record<string, number> = {
  base: 1_387,
  protocol: 2_104,
  contract: 3_486,
  store: 13_922,
  operator: 608,
  client: 1_988,
  outbox: 630,
  dispatch: 3_315,
  http: 546,
  receiver: 4_510,
  sandbox: 8_960,
  capture: 4_459,
  testing: 217,
  web: 1_841,
  dev: 4_247,
  page: 11_990,
  dashboard: 1_919,
  scaffold: 1_720,
  cli: 6_982,
};

/** Folders inside a room that stand on one another: each imports only those before it; "" for the files beside them. */
const ORDERS: Record<string, readonly string[]> = {
  capture: ["json", "model", "folder", "query", "send", "replay", "tests", "export", "redact", "schemas"],
  sandbox: [
    "samples",
    "clock",
    "faults",
    "api",
    "access",
    "endpoints",
    "delivery",
    "contact-events",
    "calls",
    "resources",
    "control",
    "",
  ],
  dev: ["lines", "sandbox", "tunnel", "forward", "register", "capture-port", "api", "page-port", ""],
  page: [
    "text",
    "api",
    "state",
    "ui",
    "json",
    "message",
    "edit",
    "detail",
    "deliveries",
    "outbox",
    "sandbox",
    "send",
    "dev",
    "dashboard",
    "",
  ],
};

/** Third-party packages, each with the only rooms that may know it. */
const PACKAGES: Record<string, readonly string[]> = {
  zod: ["protocol", "contract", "sandbox"],
  "better-sqlite3": ["store"],
  pg: ["store"],
  pino: ["receiver"],
  "@opentelemetry/api": ["receiver"],
  preact: ["page"],
  "preact/hooks": ["page"],
  "@preact/signals": ["page"],
  "@codemirror/commands": ["page"],
  "@codemirror/lang-json": ["page"],
  "@codemirror/language": ["page"],
  "@codemirror/state": ["page"],
  "@codemirror/view": ["page"],
  "@lezer/highlight": ["page"],
  uplot: ["page"],
  "uplot/dist/uPlot.min.css": ["page"],
  vite: ["page"],
  microdiff: ["capture"],
  diff: ["scaffold"],
  commander: ["cli"],
  picocolors: ["cli"],
  "@clack/prompts": ["cli"],
};

const SRC = resolve(import.meta.dirname, "../src");
const DOCUMENT = readFileSync(resolve(import.meta.dirname, "../docs/architecture.md"), "utf8");

interface Import {
  from: string;
  specifier: string;
}

function sourceFiles(folder = SRC): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sourceFiles(path) : /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)"([^"]+)"/gm);
  return [...found].map(([, specifier = ""]) => ({ from: file, specifier }));
}

function fileOf({ from, specifier }: Import): string[] {
  const path = resolve(dirname(from), specifier).replace(/\.js$/, "");
  return [`${path}.ts`, `${path}.tsx`].filter((file) => known.has(file));
}

/** The files that a file loads at once: neither types nor what it loads only when it needs it. */
function loadedBy(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const found = text.matchAll(/^(?:import|export) (?!type\b)(?:[^;]*?from )?"(\.[^"]+)"/gm);
  return [...found].flatMap(([, specifier = ""]) => fileOf({ from: file, specifier }));
}

const files = sourceFiles();
const known = new Set(files);
const imports = files.flatMap(importsOf);
const relativeImports = imports.filter(({ specifier }) => specifier.startsWith("."));
const packageImports = imports.filter(({ specifier }) => !/^(\.|node:)/.test(specifier));

/** The names that a file declares and exports. */
function exportsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const declared = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm,
  );
  return [...new Set([...declared].map(([, name = ""]) => name))];
}

/** The room of a file; undefined for an entry file. */
function roomOf(file: string): string | undefined {
  const path = relative(SRC, file);
  return path.includes("/") ? path.split("/")[0] : undefined;
}

describe("the rooms", () => {
  test("the rooms that the test reads are not empty", () => {
    expect(files.length).toBeGreaterThan(60);
    expect(relativeImports.length).toBeGreaterThan(200);
    expect(packageImports.length).toBeGreaterThan(8);
  });

  test("the rooms are the folders under src", () => {
    expect([...new Set(files.map(roomOf))].filter((room) => room !== undefined).toSorted()).toEqual(
      Object.keys(ROOMS).toSorted(),
    );
  });

  test("no room has more lines than its ceiling", () => {
    const lines = (room: string): number =>
      readdirSync(join(SRC, room), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").split("\n").length - 1)
        .reduce((sum, one) => sum + one, 0);
    const rooms = Object.keys(ROOMS).map((room) => ({ room, lines: lines(room), ceiling: CEILINGS[room] ?? 0 }));
    expect(rooms.filter((room) => room.lines > room.ceiling)).toEqual([]);
  });

  test("each room imports only the rooms below it", () => {
    const forbidden = relativeImports.flatMap(({ from, specifier }) => {
      const [fromRoom, toRoom] = [roomOf(from), roomOf(resolve(dirname(from), specifier))];
      if (fromRoom === undefined || fromRoom === toRoom) return [];
      const isAllowed = toRoom !== undefined && ROOMS[fromRoom]?.includes(toRoom);
      return isAllowed ? [] : [`${relative(SRC, from)} → ${specifier}`];
    });
    expect(forbidden).toEqual([]);
  });

  test.each(Object.entries(ORDERS))("the subfolders of src/%s import in one order", (room, order) => {
    const folderOf = (file: string): string => relative(join(SRC, room), file).split("/").slice(0, -1)[0] ?? "";
    const inRoom = files.filter((file) => roomOf(file) === room);
    expect([...new Set(inRoom.map(folderOf))].toSorted()).toEqual(order.toSorted());
    const upwards = relativeImports.flatMap(({ from, specifier }) => {
      const to = resolve(dirname(from), specifier);
      if (roomOf(from) !== room || roomOf(to) !== room) return [];
      const isBelow = order.indexOf(folderOf(to)) <= order.indexOf(folderOf(from));
      return isBelow ? [] : [`${relative(SRC, from)} → ${relative(SRC, to)}`];
    });
    expect(upwards).toEqual([]);
  });

  test("no file imports itself through others, not even a type", () => {
    // Files whose own imports are all removed are removed, until only circles and what imports them are left.
    let left = new Map(files.map((file) => [file, importsOf(file).flatMap(fileOf)]));
    for (let before = 0; before !== left.size;) {
      before = left.size;
      left = new Map([...left].filter(([, imported]) => imported.some((file) => left.has(file))));
    }
    expect([...left.keys()].map((file) => relative(SRC, file))).toEqual([]);
  });

  test("the rooms keep SQL behind the Store interface", () => {
    const outside = relativeImports.filter(
      ({ from, specifier }) =>
        /^store\/(?:sqlite|postgres)\//.test(relative(SRC, resolve(dirname(from), specifier))) &&
        roomOf(from) !== "store" &&
        roomOf(from) !== undefined,
    );
    // One place makes the default store from a path.
    expect(outside.map(({ from }) => relative(SRC, from))).toEqual(["receiver/options.ts"]);
  });

  /** All files that are loaded with these. */
  function loadedWith(entries: readonly string[]): string[] {
    const [loaded, left] = [new Set<string>(), [...entries]];
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      if (loaded.has(file)) continue;
      loaded.add(file);
      left.push(...loadedBy(file));
    }
    return [...loaded];
  }

  test("only the entry for PostgreSQL loads what PostgreSQL needs, and its driver only when a store is opened", () => {
    const entries = files.filter((file) => roomOf(file) === undefined);
    const others = loadedWith(entries.filter((entry) => basename(entry) !== "postgres.ts"));
    expect(others.length).toBeGreaterThan(200);
    expect(others.filter((file) => file.includes("/postgres/")).map((file) => relative(SRC, file))).toEqual([]);
    const knowing = packageImports.filter(({ specifier }) => specifier === "pg").map(({ from }) => from);
    expect([...new Set(knowing.map((file) => relative(SRC, dirname(file))))]).toEqual(["store/postgres"]);
    const loading = knowing.filter((file) => /^import (?!type\b)[^;]*from "pg"/m.test(readFileSync(file, "utf8")));
    expect(loading.length).toBeGreaterThan(1);
    const withEntries = loadedWith(entries);
    expect(withEntries.some((file) => file.endsWith("/postgres/postgres-store.ts"))).toBe(true);
    expect(withEntries.filter((file) => loading.includes(file))).toEqual([]);
  });

  test("the rooms know third-party packages only where they belong", () => {
    const forbidden = packageImports.filter(({ from, specifier }) => {
      const room = roomOf(from);
      return room === undefined || PACKAGES[specifier]?.includes(room) !== true;
    });
    expect(forbidden).toEqual([]);
  });

  test("no room has a folder for leftovers", () => {
    const names = files.flatMap((file) => relative(SRC, dirname(file)).split("/"));
    expect(names.filter((name) => /^(utils?|common|helpers?|lib|misc|shared)$/.test(name))).toEqual([]);
  });

  test("docs/architecture.md lists the rooms and what each may import", () => {
    const rows = [...DOCUMENT.matchAll(/^\| `(\w+)\/` \|[^|]*\| ([^|]*) \|$/gm)];
    const table = rows.map(([, room = "", allowed = ""]) => [room, allowed === "–" ? [] : allowed.split(", ")]);
    expect(Object.fromEntries(table)).toEqual(ROOMS);
  });
});

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
    const [loaded, left] = [new Set<string>(), [join(CLI, "main.ts")]];
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      if (loaded.has(file)) continue;
      loaded.add(file);
      left.push(...loadedBy(file));
    }
    const code = [...loaded].map((file) => relative(CLI, file)).filter((file) => commands.includes(dirname(file)));
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
    const found = files.filter((file) => roomOf(file) === "cli" && own.test(readFileSync(file, "utf8")));
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
      const statements = readFileSync(entry, "utf8")
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

describe("the types", () => {
  test("the types that a file exports have names that no other file gives to a type of its own", () => {
    const declared = new Map<string, { name: string; file: string; isExported: boolean }[]>();
    for (const file of files) {
      const text = readFileSync(file, "utf8");
      for (const [, exported, name = ""] of text.matchAll(
        /^(export )?(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm,
      )) {
        // `BackupOptions` and `BackUpOptions` are one name to a reader.
        const group = declared.get(name.toLowerCase()) ?? [];
        declared.set(name.toLowerCase(), group);
        group.push({ name, file: relative(SRC, file), isExported: exported !== undefined });
      }
    }
    expect(declared.size).toBeGreaterThan(300);
    const groups = [...declared.values()];
    const repeated = groups.filter((group) => group.length > 1 && group.some(({ isExported }) => isExported));
    expect(repeated.map((group) => group.map(({ name, file }) => `${name} in ${file}`))).toEqual([]);
  });
});

describe("the objects of dependencies", () => {
  /** What one class or function needs is one idea or a few, not a bag. */
  const MAX_MEMBERS = 6;
  const SMALL = ["protocol", "http", "receiver", "dispatch", "store"];

  /** Interfaces for dependencies, by name: the file, their own members, and those that they extend. */
  function readBags(): Map<string, { file: string; own: string[]; bases: string[] }> {
    const found = new Map<string, { file: string; own: string[]; bases: string[] }>();
    for (const file of files.filter((path) => SMALL.includes(roomOf(path) ?? ""))) {
      const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
      for (const [, name = "", before = "", body = ""] of text.matchAll(
        /^(?:export )?(?:interface|type) (\w*(?:Deps|Dependencies|Parts|Tools))\b([^{;]*)\{\n([\s\S]*?)^\}/gm,
      )) {
        const own = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(<]/gm)].map(([, member = ""]) => member);
        found.set(name, { file: relative(SRC, file), own, bases: before.match(/\w+/g) ?? [] });
      }
    }
    return found;
  }

  test("the dependencies of an object in the path of a delivery are at most six", () => {
    const bags = readBags();
    const membersOf = (name: string): string[] => {
      const { own, bases } = bags.get(name) ?? { own: [], bases: [] };
      return [...own, ...bases.flatMap(membersOf)];
    };
    expect(bags.size).toBeGreaterThan(20);
    expect(membersOf("DispatcherDeps")).toContain("registry");
    const large = [...bags].filter(([name]) => membersOf(name).length > MAX_MEMBERS);
    expect(large.map(([name, { file }]) => `${file} ${name}: ${membersOf(name).join(", ")}`)).toEqual([]);
  });

  test("the objects of dependencies have names by which the test above finds them", () => {
    const bags = files.flatMap((file) => {
      if (!SMALL.includes(roomOf(file) ?? "")) return [];
      const types = [...readFileSync(file, "utf8").matchAll(/^ {2}readonly #(?:deps|parts|tools): (\w+|\{[^}]*\})/gm)];
      return types.map(([, type = ""]) => ({ file: relative(SRC, file), type }));
    });
    expect(bags.length).toBeGreaterThan(15);
    const others = bags.filter(({ type }) => !/(?:Deps|Dependencies|Parts|Tools)$/.test(type));
    const large = others.filter(({ type }) => !type.startsWith("{") || type.split(";").length > MAX_MEMBERS);
    expect(large).toEqual([]);
  });
});

describe("what was thrown", () => {
  test("the message and the name of an unknown error are read in one file", () => {
    const all = files.filter((file) =>
      /instanceof Error\s*\?\s*[\w.]+\.(?:message|name)\s*:/.test(readFileSync(file, "utf8")),
    );
    expect(all.map((file) => relative(SRC, file))).toEqual(["base/error-text.ts"]);
  });
});

describe("the error codes", () => {
  test("each error code is used somewhere", () => {
    const list = readFileSync(resolve(SRC, "base/error.ts"), "utf8");
    const codes = [...list.matchAll(/^ {2}(\w+): "/gm)].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(15);
    const rest = files.filter((file) => !file.endsWith("base/error.ts")).map((file) => readFileSync(file, "utf8"));
    expect(codes.filter((code) => !rest.some((text) => text.includes(`"${code}"`)))).toEqual([]);
  });
});
