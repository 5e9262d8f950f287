import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { asProgram, runToEnd } from "../support/start-program.js";

const BUILT = resolve(import.meta.dirname, "../../dist/.modules/scaffold/mount/find-own-route.js");

test("a folder that may not be read is left out of the search for the app's own route", async () => {
  const folder = makeFolder();
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "pgdata"), { mode: 0o000 });
  onTestFinished(() => chmodSync(join(folder, "pgdata"), 0o700));
  writeFileSync(join(folder, "hooks.js"), 'verify(req.headers["x-svc-signature"]);');
  // For root every folder is readable.
  const script = `
    const { findOwnRoute } = await import(${JSON.stringify(BUILT)});
    if (process.getuid() === 0) process.setuid(65534);
    console.log(findOwnRoute(${JSON.stringify(folder)}, []));`;
  const { stdout, stderr } = await runToEnd(asProgram(script));
  expect(stderr).toBe("");
  expect(stdout).toContain("hooks.js");
});
