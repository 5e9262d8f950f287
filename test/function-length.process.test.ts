import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "./support/folder.js";

const PROJECT = resolve(import.meta.dirname, "..");

/**
 * Where no function is longer than {@link MAX_LINES}. A function that holds others counts with them; a class is none,
 * its methods are.
 */
const ROOMS = ["protocol", "http", "receiver", "dispatch", "store"];
const MAX_LINES = 60;

/** Longer ones that are left, with the lines they may have. Entries become smaller or go; none comes. */
const EXCEPTIONS: Record<string, number> = {
  "store/sqlite/inbox-database.ts createInboxDatabase": 61,
  "store/sqlite/operations/accept.ts prepareAccept": 79,
  "store/sqlite/operations/outbox-send.ts prepareLeaseSend": 75,
  "store/sqlite/sqlite-store.ts createSqliteStore": 117,
  "store/sqlite/thread-writer.ts createThreadWriter": 83,
  "store/sqlite/guard-database.ts guardDatabase": 68,
};

interface Diagnostic {
  message: string;
  filename: string;
}

/** Functions of more than `max` lines in these paths, as oxlint counts them: file, name and lines. */
function longFunctions(paths: readonly string[], max: number): Record<string, number> {
  const folder = makeFolder();
  const config = join(folder, "oxlintrc.json");
  const rules = { "max-lines-per-function": ["error", { max, IIFEs: true }] };
  writeFileSync(config, JSON.stringify({ categories: { correctness: "off" }, plugins: [], rules }));
  const program = join(PROJECT, "node_modules/oxlint/bin/oxlint");
  const options = { cwd: PROJECT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const child = spawnSync(process.execPath, [program, "--config", config, "--format", "json", ...paths], options);
  const { diagnostics } = JSON.parse(child.stdout) as { diagnostics: Diagnostic[] };
  const found: Record<string, number> = {};
  for (const { message, filename } of diagnostics) {
    const [, name = "(no name)", lines] = /(?:`([^`]*)` )?has too many lines \((\d+)\)/.exec(message) ?? [];
    expect(lines, message).toBeDefined();
    const place = `${filename.replace(/^.*?src\//, "")} ${name}`;
    found[place] = Math.max(found[place] ?? 0, Number(lines));
  }
  return found;
}

describe("the length of functions", () => {
  const paths = ROOMS.map((room) => `src/${room}`);

  test("the length of a function includes inner functions, and methods count on their own", () => {
    const long = longFunctions(["src/dispatch/dispatcher.ts", "src/store/sqlite/sqlite-store.ts"], 5);
    const dispatcher = readFileSync(join(PROJECT, "src/dispatch/dispatcher.ts"), "utf8").split("\n").length;
    expect(Math.max(...Object.values(long))).toBe(long["store/sqlite/sqlite-store.ts createSqliteStore"]);
    expect(long["dispatch/dispatcher.ts stop"]).toBeGreaterThan(5);
    expect(
      Object.entries(long).filter(([name, lines]) => name.startsWith("dispatch") && lines > dispatcher / 2),
    ).toEqual([]);
  });

  const long = (): [string, number][] => Object.entries(longFunctions(paths, MAX_LINES));

  test(`each function has at most ${MAX_LINES} lines in ${ROOMS.join(", ")}, except for a list that does not grow`, () => {
    expect(long().filter(([name, lines]) => lines > (EXCEPTIONS[name] ?? MAX_LINES))).toEqual([]);
  });

  test("each exception is still longer than the limit", () => {
    const names = new Set(long().map(([name]) => name));
    expect(Object.keys(EXCEPTIONS).filter((name) => !names.has(name))).toEqual([]);
  });
});
