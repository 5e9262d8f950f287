import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { findTarball } from "#pigeonhole/cli/init/tarball.js";
import { needsNodePackage } from "#pigeonhole/scaffold/project/manager-settings.js";
import type { PackageManagerName } from "#pigeonhole/scaffold/project/package-manager.js";
import { makeFiles } from "./scratch.js";
import { makeFolder } from "../support/folder.js";
import { jsonLines, runCli } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";

const PLAIN = ["--template", "hono", "--events", "email.received", "--no-install", "--no-git"];

/**
 * A folder for PATH with an `npm` that is a shell script, so that installing takes as long or fails as a test wants.
 */
function fakeNpm(script: string): string {
  const folder = makeFiles({ npm: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, "npm"), 0o755);
  return `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
}

afterEach(() => void vi.unstubAllEnvs());

/** Makes a project named mail without installing, with these flags too. */
const initMail = (folder: string, ...flags: string[]) => runCli(["init", "mail", ...PLAIN, ...flags], { cwd: folder });

describe("init without a terminal", () => {
  test("init names what is missing, with a command line that works, and writes nothing", async () => {
    const folder = makeFolder();
    const { code, stderr } = await runCli(["init"], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain("give the folder, --template, --events; or --yes for the defaults");
    expect(stderr).toContain("pigeonhole init mail-receiver --template express --events email.received,");
    const some = await runCli(["init", "mail", "--template", "hono"], { cwd: folder });
    expect([some.code, some.stderr]).toEqual([2, expect.stringContaining("so give --events; or --yes")]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("init needs no --yes if options say everything", async () => {
    const folder = makeFolder();
    const { code, stdout } = await initMail(folder);
    expect([code, existsSync(join(folder, "mail/src/app.ts"))]).toEqual([0, true]);
    expect(stdout).toMatch(/1\. cd mail\n {2}2\. npm install\n {2}3\. npm run dev/);
  });

  test.each([
    [[], "docker compose up --detach --wait database"],
    [["--no-docker"], "# start the PostgreSQL of DATABASE_URL in .env"],
  ])("init of a project on PostgreSQL with %j says first how it gets its database", async (docker, command) => {
    const [made] = jsonLines(await initMail(makeFolder(), "--template", "express-postgres-app", ...docker, "--json"));
    const next = ["cd mail", "npm install", command, "npm run dev", expect.anything(), expect.anything()];
    expect(made).toMatchObject({ next });
  });

  test("init copies a packed pigeonhole into the project, from which it and its image install", async () => {
    const folder = makeFiles({ "pigeonhole-1.2.3.tgz": "packed" });
    const version = ["--pigeonhole-version", "file:../pigeonhole-1.2.3.tgz"];
    expect((await initMail(folder, ...version)).code).toBe(0);
    const read = (path: string) => readFileSync(join(folder, "mail", path), "utf8");
    expect(read("vendor/pigeonhole-1.2.3.tgz")).toBe("packed");
    expect(JSON.parse(read("package.json"))).toMatchObject({
      dependencies: { pigeonhole: "file:vendor/pigeonhole-1.2.3.tgz" },
    });
    expect(read("Dockerfile")).toContain("COPY vendor ./vendor\n");
    const missing = await runCli(["init", "other", ...PLAIN, "--pigeonhole-version", "file:../no.tgz"], {
      cwd: folder,
    });
    expect([missing.code, existsSync(join(folder, "other"))]).toEqual([2, false]);
  });

  test.each(["dependencies", "devDependencies"])(
    "init takes the packed pigeonhole of %s that it runs from",
    (group) => {
      const manifest = JSON.stringify({ [group]: { pigeonhole: "file:../pigeonhole-1.2.3.tgz" } });
      const folder = makeFiles({ "pigeonhole-1.2.3.tgz": "packed", "tool/package.json": manifest });
      const installed = join(folder, "tool/node_modules/pigeonhole");
      const from = join(folder, "pigeonhole-1.2.3.tgz");
      const place = { folder: join(folder, "mail"), installed };
      expect(findTarball(undefined, place)).toEqual({ from, to: "vendor/pigeonhole-1.2.3.tgz" });
      expect(findTarball("^1.0.0", place)).toBeUndefined();
      rmSync(from);
      expect(findTarball(undefined, place)).toBeUndefined();
    },
  );

  test.each([
    ["a registry", { dependencies: { pigeonhole: "^1.2.3" } }],
    ["a folder", { dependencies: { pigeonhole: "file:../pigeonhole" } }],
    ["a place that does not say", {}],
  ])("init that was installed from %s takes its own version", (_, manifest) => {
    const folder = makeFiles({ "package.json": JSON.stringify(manifest) });
    const installed = join(folder, "node_modules/pigeonhole");
    expect(findTarball(undefined, { folder, installed })).toBeUndefined();
    expect(findTarball(undefined, { folder, installed: folder })).toBeUndefined();
  });

  test("init with --yes uses the defaults", async () => {
    const folder = makeFolder();
    const { code, stdout } = await runCli(["init", "--yes", "--no-install", "--json"], { cwd: folder });
    expect(code).toBe(0);
    expect(jsonLines({ stdout })).toMatchObject([
      {
        schemaVersion: 1,
        kind: "created",
        folder: join(folder, "mail-receiver"),
        template: "express",
        events: ["email.received", "email.delivered", "email.bounced", "email.complained"],
        packageManager: "npm",
        git: true,
        docker: true,
        installed: false,
        failures: [],
      },
    ]);
    expect(readdirSync(join(folder, "mail-receiver"))).toEqual(expect.arrayContaining([".git", "Dockerfile", ".env"]));
    expect(statSync(join(folder, "mail-receiver/.env")).mode & 0o777).toBe(0o600);
  });

  test("init uses the package manager that runs the command, or the one that is named", async () => {
    const env = { npm_config_user_agent: "pnpm/10.1.0 npm/? node/v20" };
    const init = (...flags: string[]) => runCli(["init", "a", ...PLAIN, "--json", ...flags], { env });
    const [own] = jsonLines(await init());
    expect(own).toMatchObject({
      packageManager: "pnpm",
      next: ["cd a", "pnpm install", "pnpm run dev", expect.anything(), expect.anything()],
    });
    const [named] = jsonLines(await init("--pm", "bun"));
    expect(named).toMatchObject({ packageManager: "bun" });
  });

  test.each([
    [["--template", "koa"], "--template"],
    [["--events", "email.lost"], '"email.lost" is not an event type'],
    [["--pm", "cargo"], "--pm"],
  ])("init %j is refused with a word about %j", async (flags, words) => {
    const folder = makeFolder();
    const { code, stderr } = await runCli(["init", "mail", "--yes", ...flags], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("an existing folder", () => {
  test("a folder that is not empty is refused and not changed", async () => {
    const folder = makeFiles({ "mail/README.md": "mine" });
    const { code, stderr } = await initMail(folder);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "mail is not empty. Name another folder, or replace files of the same name with --overwrite.",
    );
    expect(readdirSync(join(folder, "mail"))).toEqual(["README.md"]);
  });

  test("a folder with --overwrite gets new versions of files of the same name, and keeps .env and other files", async () => {
    const folder = makeFiles({ "mail/README.md": "mine", "mail/src/other.ts": "mine", "mail/.env": "MINE=1" });
    expect((await initMail(folder, "--overwrite")).code).toBe(0);
    const read = (path: string) => readFileSync(join(folder, "mail", path), "utf8");
    expect(read("README.md")).toMatch(/^# mail\n/);
    expect([read("src/other.ts"), read(".env")]).toEqual(["mine", "MINE=1"]);
    expect(existsSync(join(folder, "mail/src/app.ts"))).toBe(true);
    expect(readdirSync(folder)).toEqual(["mail"]);
  });

  test("an empty folder or a new repository is used", async () => {
    const folder = makeFiles({ ".git/HEAD": "ref: refs/heads/main\n" });
    const { code, stdout } = await runCli(["init", ".", ...PLAIN], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toContain("1. npm install");
    expect(existsSync(join(folder, ".git/HEAD")) && existsSync(join(folder, "package.json"))).toBe(true);
  });

  test("a file in place of the folder is refused", async () => {
    const { code, stderr } = await initMail(makeFiles({ mail: "" }));
    expect([code, stderr]).toEqual([2, expect.stringContaining("mail is a file; name a folder.")]);
  });
});

describe("installing", () => {
  const flags = ["--template", "hono", "--events", "email.received", "--no-git"];

  test("the installation happens in the project, before it is moved to its place", async () => {
    const folder = makeFolder();
    vi.stubEnv(
      "PATH",
      fakeNpm('[ "$1" = install ] && [ -f package.json ] && mkdir node_modules && pwd > node_modules/where'),
    );
    const { code, stdout } = await runCli(["init", "mail", ...flags, "--json"], { cwd: folder });
    expect(code).toBe(0);
    expect(jsonLines({ stdout })).toMatchObject([
      { installed: true, next: ["cd mail", "npm run dev", expect.anything(), expect.anything()] },
    ]);
    expect(readFileSync(join(folder, "mail/node_modules/where"), "utf8")).toMatch(/\/\.mail-\w+\n$/);
  });

  test("an installation that fails keeps the project, quotes the program and exits with 1", async () => {
    const folder = makeFolder();
    vi.stubEnv("PATH", fakeNpm("echo no network >&2; exit 7"));
    const { code, stdout, stderr } = await runCli(["init", "mail", ...flags], { cwd: folder });
    expect(code).toBe(1);
    expect(stderr).toContain('"npm install" failed with 7:\nno network');
    expect(stdout).toContain("2. npm install");
    expect(existsSync(join(folder, "mail/package.json"))).toBe(true);
  });

  test("an installation with a missing program says so", async () => {
    vi.stubEnv("PATH", makeFolder());
    const { code, stderr } = await runCli(["init", "mail", ...flags, "--pm", "pnpm"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("pnpm is not installed.")]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "the signal %s ends an installation and all its processes, and leaves nothing",
    async (signal) => {
      const folder = makeFolder();
      // A program below the program, as installers start them to compile; it shows that it runs.
      const marks = makeFolder();
      const PATH = fakeNpm(`mkdir node_modules; (while :; do echo >> "${marks}/beats"; sleep 0.02; done) & wait`);
      const beats = (): number => statSync(join(marks, "beats"), { throwIfNoEntry: false })?.size ?? 0;
      const init = startCli(["init", "deep/mail", ...flags], { cwd: folder, env: { PATH } });
      await expect.poll(beats).toBeGreaterThan(2);
      expect(readdirSync(join(folder, "deep"))).toEqual([expect.stringMatching(/^\.mail-/)]);

      init.signal(signal);
      const { code, stdout, stderr } = await init.ended;
      expect([code, stdout]).toEqual([signal === "SIGINT" ? 130 : 143, ""]);
      expect(stderr).toMatch(/Interrupted; nothing was written\.\n$/);
      expect(stderr).not.toContain("error");
      // The folder above it was made for it.
      expect(readdirSync(folder)).toEqual([]);
      const last = beats();
      await sleep(200);
      expect(beats()).toBe(last);
    },
  );
});

test.each<[string, PackageManagerName, boolean]>([
  ["20.20.2", "npm", true],
  ["20.20.2", "pnpm", true],
  ["20.20.2", "yarn", false],
  ["22.23.3", "bun", true],
  ["22.23.3", "yarn", false],
  ["24.0.0", "npm", false],
  ["26.10.0", "npm", false],
])("the npm package node is added on Node %s with %s: %s", (version, packageManager, expected) => {
  expect(needsNodePackage(packageManager, version)).toBe(expected);
});

describe("git", () => {
  test("init makes no repository inside another one", async () => {
    const folder = makeFolder();
    execFileSync("git", ["init", "--quiet"], { cwd: folder });
    const flags = ["--template", "hono", "--events", "email.received", "--no-install", "--json"];
    const { stdout } = await runCli(["init", "mail", ...flags], { cwd: folder });
    expect(jsonLines({ stdout })).toMatchObject([{ git: false }]);
    expect(existsSync(join(folder, "mail/.git"))).toBe(false);
  });
});
