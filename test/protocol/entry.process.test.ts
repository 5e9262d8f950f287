import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const entry = fileURLToPath(import.meta.resolve("pigeonhole/protocol"));
// Comments hold example imports; compiled code has each import at the start of a line.
const SPECIFIER = /^(?:import|export)\s[^;]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*["'`]([^"'`]+)/gm;

/** File → the specifiers it imports, for everything reachable from the entry. */
function importGraph(): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (graph.has(file)) continue;
    const specifiers = [...readFileSync(file, "utf8").matchAll(SPECIFIER)].map(
      (match) => match[1] ?? match[2] ?? match[3] ?? "",
    );
    graph.set(file, specifiers);
    const from = dirname(file);
    open.push(...specifiers.filter((name) => name.startsWith(".")).map((name) => resolve(from, name)));
  }
  return graph;
}

test("pigeonhole/protocol imports nothing but node:crypto", () => {
  const graph = importGraph();
  expect(graph.size).toBeGreaterThanOrEqual(2);
  const outside = [...graph.values()].flat().filter((name) => !name.startsWith("./") && !name.startsWith("../"));
  expect(new Set(outside)).toEqual(new Set(["node:crypto"]));
});

test("pigeonhole/protocol loads without any installed package", () => {
  // The loader hook names every module as it is resolved, so this does not depend on how imports are written.
  const hook = `export async function resolve(name, context, next) {
    const found = await next(name, context);
    process._rawDebug("resolved " + found.url);
    return found;
  }`;
  const data = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(data(hook))});`;
  const run = spawnSync(process.execPath, ["--import", data(register), entry], { encoding: "utf8" });
  expect(run.status, run.stderr).toBe(0);
  const urls = [...run.stderr.matchAll(/^resolved (.+)$/gm)].map((match) => match[1] ?? "");
  const files = urls.filter((url) => url.startsWith("file:"));
  expect(files.length).toBeGreaterThanOrEqual(2);
  expect(files.filter((url) => url.includes("node_modules"))).toEqual([]);
  expect(new Set(urls.filter((url) => !url.startsWith("file:")))).toEqual(new Set(["node:crypto"]));
});
