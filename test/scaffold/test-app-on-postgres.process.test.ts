import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFixture } from "#pigeonhole/cli/init/run.js";
import { planScaffold } from "#pigeonhole/scaffold/project/plan-scaffold.js";
import { findFreePort } from "../support/free-port.js";
import { runSql } from "../support/postgres-process.js";
import { startPostgres } from "../support/postgres-server.js";
import { hasPostgres, isSkippedWithout } from "../support/tools.js";
import { startProgram } from "../support/start-program.js";
import { linkPackages, makeFiles, ROOT } from "./scratch.js";

function makeProject(): string {
  const files = planScaffold({ name: "mail", pigeonhole: "^1.2.3", template: "express-postgres-app", makeFixture });
  const folder = makeFiles(Object.fromEntries(files.map(({ path, content }) => [path, content])));
  linkPackages(folder, ["express", "pg", "pino", "supertest", "tsx", "vitest", "zod"]);
  return folder;
}

test("the app of a new project says in one line that its database is not there", async () => {
  const port = await findFreePort();
  const app = startProgram({
    command: process.execPath,
    args: ["--import", "tsx", "src/server.ts"],
    cwd: makeProject(),
    env: { DATABASE_URL: `postgres://app:app@127.0.0.1:${port}/app` },
  });
  const { code, stdout, stderr } = await app.ended;
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/"msg":"[^"]*ECONNREFUSED[^"]* of DATABASE_URL, as README\.md says\."/),
  ]);
});

describe.skipIf(isSkippedWithout(hasPostgres()))("on a server that the store refuses", () => {
  test("the tests of a new project show that error alone, and leave no database", async () => {
    const server = await startPostgres({ fsync: "off" });
    onTestFinished(() => server.stop());
    const vitest = startProgram({
      command: process.execPath,
      args: [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "test/tables.test.ts", "test/webhooks.test.ts"],
      cwd: makeProject(),
      env: { DATABASE_URL: server.url },
    });
    const { code, stderr } = await vitest.ended;
    expect(code).toBe(1);
    // Vitest may show the error that files have in common once.
    const errors = new Set(stderr.match(/^[A-Za-z]*Error: .*/gm));
    expect([...errors]).toEqual([expect.stringContaining("fsync")]);
    expect(await runSql(server.url, "SELECT FROM pg_database WHERE datname LIKE 'test@_%' ESCAPE '@'")).toEqual([]);
  });
});
