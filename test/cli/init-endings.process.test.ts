import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import { makeFolder } from "../support/folder.js";

const PLAIN = ["--template", "hono", "--events", "email.received", "--no-git"];

describe("init", () => {
  test("init that is interrupted with Ctrl-C during the installation says that it wrote nothing, and has written nothing", async () => {
    const tools = makeFolder();
    const began = join(tools, "began");
    writeFileSync(join(tools, "npm"), `#!/bin/sh\n: > "${began}"\nexec sleep 60\n`);
    chmodSync(join(tools, "npm"), 0o755);
    const cwd = makeFolder();
    const PATH = `${tools}${delimiter}${process.env["PATH"] ?? ""}`;
    const cli = startCli(["init", "deep/mail", ...PLAIN], { cwd, env: { PATH } });
    await expect.poll(() => existsSync(began)).toBe(true);
    cli.signal("SIGINT");
    const { code, stdout, stderr } = await cli.ended;
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr).toContain("Interrupted; nothing was written.\n");
    // The folder above it was made for it.
    expect(readdirSync(cwd)).toEqual([]);
  });

  // Only Linux has a folder of which the system says that a new one in it does not exist.
  test.skipIf(!existsSync("/proc/self")).each(["/proc/x", "/proc/x/y"])(
    "init into %s, which cannot be created, ends with 2 and names it",
    { timeout: 15_000 },
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
