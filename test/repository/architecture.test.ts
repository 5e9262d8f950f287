import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
  SRC,
  fileOf,
  files,
  importsOf,
  loadedWith,
  packageImports,
  relativeImports,
  roomOf,
  textOf,
} from "./repository.js";

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
  http: 552,
  receiver: 4_510,
  sandbox: 8_962,
  capture: 4_459,
  testing: 217,
  web: 1_842,
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

  test("only the entry for PostgreSQL loads what PostgreSQL needs, and its driver only when a store is opened", () => {
    const entries = files.filter((file) => roomOf(file) === undefined);
    const others = loadedWith(entries.filter((entry) => basename(entry) !== "postgres.ts"));
    expect(others.length).toBeGreaterThan(200);
    expect(others.filter((file) => file.includes("/postgres/")).map((file) => relative(SRC, file))).toEqual([]);
    const knowing = packageImports.filter(({ specifier }) => specifier === "pg").map(({ from }) => from);
    expect([...new Set(knowing.map((file) => relative(SRC, dirname(file))))]).toEqual(["store/postgres"]);
    const loading = knowing.filter((file) => /^import (?!type\b)[^;]*from "pg"/m.test(textOf(file)));
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
    const document = readFileSync(resolve(SRC, "../docs/architecture.md"), "utf8");
    const rows = [...document.matchAll(/^\| `(\w+)\/` \|[^|]*\| ([^|]*) \|$/gm)];
    const table = rows.map(([, room = "", allowed = ""]) => [room, allowed === "–" ? [] : allowed.split(", ")]);
    expect(Object.fromEntries(table)).toEqual(ROOMS);
  });
});
