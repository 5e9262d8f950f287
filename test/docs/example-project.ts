import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { type Ended, runToEnd } from "../support/start-program.js";
import { readDocument } from "./markdown.js";

export const ROOT = resolve(import.meta.dirname, "../..");
export const MINUTE = 60_000;
export const PLAIN_ENV = { NEXT_TELEMETRY_DISABLED: "1" };

export const run = (command: string, args: readonly string[], cwd: string): Promise<Ended> =>
  runToEnd({ command, args, cwd, env: PLAIN_ENV });

/**
 * A folder with programs of examples/ and the real packages that they need. These are large, and nothing else needs
 * them: they are installed for the tests of one file, from the lock beside it.
 */
export function useExampleProject(name: "hosts" | "hand-over"): string {
  vi.setConfig({ hookTimeout: 5 * MINUTE, testTimeout: 5 * MINUTE });
  const project = mkdtempSync(join(realpathSync(tmpdir()), `pigeonhole-${name}-`));
  beforeAll(async () => {
    for (const from of ["examples/hosts/tsconfig.json", `test/docs/${name}`, `examples/${name}`])
      cpSync(join(ROOT, from), from.endsWith(".json") ? join(project, "tsconfig.json") : project, { recursive: true });
    await run("npm", ["ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"], project);
    const { dependencies } = JSON.parse(readDocument("package.json")) as { dependencies: object };
    const more = ["@hono/node-server", "@types/node", "@types/pg", "hono", "pg", "tsx", "typescript"];
    for (const dependency of [...Object.keys(dependencies), ...more]) {
      const link = join(project, "node_modules", dependency);
      if (existsSync(link)) continue;
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(ROOT, "node_modules", dependency), link);
    }
    // Not a link: Turbopack follows none that leads out of its project.
    for (const part of ["package.json", "dist"])
      cpSync(join(ROOT, part), join(project, "node_modules/pigeonhole", part), { recursive: true });
  });
  afterAll(() => rmSync(project, { recursive: true, force: true, maxRetries: 5 }));
  return project;
}
