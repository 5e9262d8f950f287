import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

const PLAIN = ["--template", "hono", "--events", "email.received", "--no-git"];

describe("init", () => {
  // Only Linux has a folder of which the system says that a new one in it does not exist.
  test.skipIf(!existsSync("/proc/self")).each(["/proc/x", "/proc/x/y"])(
    "init into %s, which cannot be created, ends with 2 and names it",
    async (folder) => {
      const { code, stderr } = await runCli(["init", folder, ...PLAIN, "--no-install"]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`The folder ${folder} cannot be created (ENOENT)`)]);
    },
  );

  test("init creates missing parent folders, and creates nothing if a parent is a file", async () => {
    const cwd = makeFolder();
    expect(await runCli(["init", "a/b/mail", ...PLAIN, "--no-install"], { cwd })).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, "a/b/mail/package.json"))).toBe(true);
    mkdirSync(join(cwd, "c"));
    writeFileSync(join(cwd, "c/file"), "");
    expect(await runCli(["init", "c/file/mail", ...PLAIN, "--no-install"], { cwd })).toMatchObject({ code: 2 });
    expect(readdirSync(join(cwd, "c"))).toEqual(["file"]);
  });
});
