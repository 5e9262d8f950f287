import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { basename, extname, join, relative, resolve, sep } from "node:path";
import { ERROR_CODES } from "#pigeonhole/base/error.js";
import { COMMANDS } from "#pigeonhole/cli/commands.js";
import { API_ERROR_CODES } from "#pigeonhole/contract/api-error-codes.js";
import { ALARMS } from "#pigeonhole/receiver/alarm-table.js";
import { METRICS } from "#pigeonhole/receiver/metrics.js";
import { formatNumber, formatTable, printLine, printTitle } from "./bench/table.js";
import { readPublicNames } from "./docs/api-reference.js";
import { DIST, findDeclaration, readForeignNames } from "./docs/declarations.js";
import { DOCUMENTED } from "./docs/option-tables.js";

// What a reader, a user and a machine carry: `npm run weight`. It reads `dist`, as it ships.

const ROOT = resolve(import.meta.dirname, "..");
/** Starts of each import, of which the fastest counts. */
const RUNS = 7;

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
  exports: Record<string, unknown>;
};

/** Lines and files per folder of a folder, and per file that lies in it. */
function printLines(folder: string): void {
  const rooms = new Map<string, { files: number; lines: number }>();
  const all = { files: 0, lines: 0 };
  for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
    const file = join(ROOT, folder, path);
    if (!statSync(file).isFile() || extname(path) === ".png" || basename(path) === "package-lock.json") continue;
    const [name = ""] = path.split(sep);
    const room = rooms.get(name) ?? { files: 0, lines: 0 };
    rooms.set(name, room);
    const lines = readFileSync(file, "utf8").split("\n").length - 1;
    for (const sum of [room, all]) {
      sum.files += 1;
      sum.lines += lines;
    }
  }
  const sorted = [...rooms].toSorted(([, one], [, other]) => other.lines - one.lines);
  const rows = [...sorted, ["all", all] as const].map(([name, { files, lines }]) => {
    return [name, formatNumber(files, 0), formatNumber(lines, 0)];
  });
  printTitle(`${folder}/`);
  printLine(formatTable(["", "files", "lines"], rows));
}

/** The methods that an interface of the store declares, with those of the interfaces that it extends. */
function methodsOf(name: string, file: string): Set<string> {
  const { text } = findDeclaration(name, join(DIST, file)) ?? {};
  if (text === undefined) throw new Error(`${file} declares no ${name}.`);
  const [, list = ""] = /^export interface [^{]*? extends ([^{]*)\{/.exec(text) ?? [];
  const own = [...text.matchAll(/^ {4}(?:readonly )?(\w+)\??(?:<.*?>)?(?:\(|: \()/gm)].map(([, method = ""]) => method);
  const foreign = readForeignNames(join(DIST, file));
  const bases = (list.match(/\w+/g) ?? []).map((base) => {
    const from = foreign.find((other) => other.name === base)?.from;
    return methodsOf(base, from === undefined ? file : relative(DIST, from));
  });
  return new Set([own, ...bases].flatMap((methods) => [...methods]));
}

interface Imported {
  ms: number;
  packages: string[];
}

/** The least time of the processor to import these in a process of their own, and the packages asked for meanwhile. */
function timeImport(specifiers: readonly string[]): Imported {
  const script = `
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({ resolve: (name, context, next) => {
      if (context.parentURL?.includes("/dist/") && !context.parentURL.includes("node_modules")) packages.add(name);
      return next(name, context);
    } });
    const begin = process.cpuUsage();
    for (const name of ${JSON.stringify(specifiers)}) await import(name);
    const { user, system } = process.cpuUsage(begin);
    const ms = (user + system) / 1000;
    console.log(JSON.stringify({ ms, packages: [...packages].filter((name) => name in ${JSON.stringify(manifest.dependencies)}) }));`;
  const runs = Array.from({ length: RUNS }, () => {
    const out = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: ROOT });
    return JSON.parse(out.toString()) as Imported;
  });
  return runs.toSorted((one, other) => one.ms - other.ms)[0] ?? { ms: Number.NaN, packages: [] };
}

function packed(): { entryCount: number; size: number; unpackedSize: number } {
  const out = execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [found] = JSON.parse(out) as { entryCount: number; size: number; unpackedSize: number }[];
  return found ?? { entryCount: 0, size: 0, unpackedSize: 0 };
}

for (const folder of ["src", "test", "docs"]) printLines(folder);

const store = methodsOf("Store", "store/store.d.ts");
const operator = methodsOf("InboxOperator", "store/inbox-operator.d.ts");
const entries = Object.keys(manifest.exports).filter((path) => path !== "./package.json");
const names = entries.flatMap((path) => readPublicNames(path === "." ? "index" : relative(".", path)));
const { entryCount, size, unpackedSize } = packed();
const ours = timeImport(["pigeonhole"]);
const theirs = timeImport(ours.packages);
const megabytes = (bytes: number): string => `${formatNumber(bytes / 1e6, 2)} MB`;
const counted: [string, string | number][] = [
  ["entries", entries.length],
  ["exported values", names.filter(({ kind }) => kind !== "type").length],
  ["exported types", names.filter(({ kind }) => kind === "type").length],
  ["methods of Outbox", methodsOf("Outbox", "store/outbox.d.ts").size],
  ["methods of Store, with Outbox", store.size],
  ["methods of InboxOperator", operator.size],
  ["methods of the three together", new Set([...store, ...operator]).size],
  ["commands", COMMANDS.length],
  ["options of commands", COMMANDS.reduce((sum, { spec }) => sum + Object.keys(spec.options ?? {}).length, 0)],
  ["options of functions", DOCUMENTED.reduce((sum, { definition }) => sum + Object.keys(definition.rows).length, 0)],
  ["alarms", Object.keys(ALARMS).length],
  ["metrics", METRICS.length],
  ["error codes", Object.keys(ERROR_CODES).length],
  ["error codes of the API", Object.keys(API_ERROR_CODES).length],
  ["dependencies", Object.keys(manifest.dependencies).length],
  ["packed files", entryCount],
  ["packed size", megabytes(size)],
  ["unpacked size", megabytes(unpackedSize)],
  ['import("pigeonhole")', `${formatNumber(ours.ms, 0)} ms of CPU`],
  [`of it ${ours.packages.join(", ")}`, `${formatNumber(theirs.ms, 0)} ms of CPU`],
];
printTitle("The package");
printLine(
  formatTable(
    ["", ""],
    counted.map(([what, amount]) => [what, String(amount)]),
  ),
);
