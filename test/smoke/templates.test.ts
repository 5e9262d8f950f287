import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFixture } from "#pigeonhole/cli/init/run.js";
import { planScaffold } from "#pigeonhole/scaffold/project/plan-scaffold.js";
import { TEMPLATE_NAMES } from "#pigeonhole/scaffold/project/templates.js";
import { runToEnd } from "../support/start-program.js";
import { linkPackages, makeFiles, ROOT } from "../scaffold/scratch.js";
import { createDatabase } from "../support/postgres-server.js";
import { hasPostgres, isSkippedWithout } from "../support/tools.js";

const PACKAGES = ["@hono", "@types", "better-sqlite3", "express", "hono", "pg", "pino", "supertest", "vitest", "zod"];

test.for([...TEMPLATE_NAMES, "minimal"] as const)(
  "a new project of the template %s compiles and passes its tests",
  async (name, context) => {
    const minimal = name === "minimal";
    const template = minimal ? "express" : name;
    const needsServer = template === "express-postgres-app";
    if (needsServer && isSkippedWithout(hasPostgres())) context.skip("PostgreSQL is missing");
    const files = planScaffold({ name: "mail", pigeonhole: "^1.2.3", template, minimal, makeFixture });
    if (minimal) expect(files.length).toBeLessThanOrEqual(10);
    expect(files.find(({ path }) => path === "AGENTS.md")?.content.split("\n").length).toBeLessThanOrEqual(20);
    const cwd = makeFiles(Object.fromEntries(files.map(({ path, content }) => [path, content])));
    linkPackages(cwd, PACKAGES);
    const server = needsServer ? await createDatabase() : undefined;
    onTestFinished(() => server?.stop());
    const run = async (tool: string, args: readonly string[]) => {
      const program = [join(ROOT, "node_modules", tool), ...args];
      const env = { DATABASE_URL: server?.url ?? "" };
      await runToEnd({ command: process.execPath, args: program, cwd, env });
    };
    await Promise.all([run("typescript/bin/tsc", ["--noEmit"]), run("vitest/vitest.mjs", ["run"])]);
  },
);
