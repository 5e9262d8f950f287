import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages } from "./install-packages.js";
import type { Scratch } from "./scratch.js";

/** The Node that server processes run under, and the folder that holds the program they run. */
export interface Runtime {
  /** Path of the binary. */
  node: string;
  /** Such as "v24.21.0". */
  version: string;
  major: number;
  /** A folder with `dist`, `test/bench` and `node_modules`: this checkout or a copy of it. */
  home: string;
}

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

/** The SQLite binding for Node below 22; the one in this checkout needs 22 or newer. */
const OLD_SQLITE = { name: "better-sqlite3", range: "^12.11.1", belowNode: 22 };

/** This process's own Node, in this checkout. */
export function ownRuntime(): Runtime {
  return describe(process.execPath, process.version, checkout);
}

/** The Node at `path`. One below 22 gets a copy of the checkout with the binding that it can load, installed once. */
export function prepareRuntime(path: string, scratch: Scratch): Runtime {
  const asked = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 });
  const version = asked.stdout?.trim() ?? "";
  if (!/^v\d+\./.test(version)) throw new Error(`--node ${path}: this is no Node, it does not answer --version`);
  const runtime = describe(path, version, checkout);
  return runtime.major < OLD_SQLITE.belowNode ? { ...runtime, home: copyCheckout(runtime, scratch) } : runtime;
}

function describe(node: string, version: string, home: string): Runtime {
  return { node, version, major: Number(/\d+/.exec(version)?.[0]), home };
}

/** A copy whose packages are links to this checkout's, all but the SQLite binding. */
function copyCheckout(runtime: Runtime, scratch: Scratch): string {
  const { name, range } = OLD_SQLITE;
  const packages = installPackages({
    folder: `node-${runtime.major}`,
    packages: { [name]: range },
    node: runtime.node,
  });
  const home = scratch.file(`checkout-${runtime.version}`);
  for (const part of ["dist", "test/bench", "package.json"]) {
    cpSync(join(checkout, part), join(home, part), { recursive: true });
  }
  const modules = join(home, "node_modules");
  mkdirSync(modules);
  for (const entry of readdirSync(join(checkout, "node_modules"))) {
    if (entry.startsWith(".") || entry === name) continue;
    symlinkSync(join(checkout, "node_modules", entry), join(modules, entry));
  }
  symlinkSync(join(packages, "node_modules", name), join(modules, name));
  return home;
}
