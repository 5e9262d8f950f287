import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { makeFolder } from "../support/folder.js";
import { runCli, SECRET } from "../support/run-cli.js";

/** A folder with one imported capture of each of these events. */
export async function importEvents(...events: object[]): Promise<string> {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "events.json"), JSON.stringify(events));
  const imported = await runCli(["captures", "import", "events.json"], { cwd, env: { WEBHOOK_SECRET: SECRET } });
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  return cwd;
}

/** A project with one fixture for each of these events. */
export async function makeFixtures(...events: object[]): Promise<string> {
  const cwd = await importEvents(...events);
  mkdirSync(join(cwd, "fixtures"));
  cpSync(join(cwd, ".pigeonhole", "captures"), join(cwd, "fixtures", "webhooks"), { recursive: true });
  return cwd;
}
