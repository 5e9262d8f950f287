import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkPair } from "#pigeonhole/store/sqlite/check-driver.js";

const ROOT = resolve(import.meta.dirname, "../..");

describe("the pairs of better-sqlite3 and Node", () => {
  test.each([
    ["12.11.1", "20.20.2", "9"],
    ["12.11.1", "22.23.3", "10"],
    ["12.11.1", "23.11.0", "10"],
    ["13.2.0", "22.14.0", "10"],
    ["13.2.0", "24.21.0", "10"],
    ["13.2.0", "26.10.0", "10"],
    ["14.0.0", "28.0.0", "11"],
  ])("the version %s of better-sqlite3 works on Node %s with Node-API %s", (driver, node, napi) => {
    expect(() => checkPair(driver, { node, napi })).not.toThrow();
  });

  test.each([
    ["12.11.1", "24.0.0", "10", "npm install better-sqlite3@13"],
    ["12.11.1", "24.18.0", "10", "npm install better-sqlite3@13"],
    ["12.11.1", "26.10.0", "10", "npm install better-sqlite3@13"],
    ["13.2.0", "20.20.2", "9", "Run this on Node 24"],
    ["13.2.0", "21.7.0", "9", "pin better-sqlite3 to 12.11.1"],
    ["13.2.0", "22.13.1", "9", "needs Node 22.14 or 23.6"],
    ["13.2.0", "23.5.0", "9", "needs Node 22.14 or 23.6"],
  ])(
    "the version %s of better-sqlite3 is refused on Node %s with Node-API %s, with what to do",
    (driver, node, napi, fix) => {
      expect(() => checkPair(driver, { node, napi })).toThrow(
        expect.objectContaining({ code: "driver_unusable", message: expect.stringContaining(fix) }),
      );
    },
  );
});

/** A project with this package and a better-sqlite3 that reports `version` and whose constructor runs `body`. */
function makeProject(version: string, body: string): string {
  const project = mkdtempSync(join(tmpdir(), "pigeonhole-driver-"));
  const modules = join(project, "node_modules");
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const part of ["dist", "package.json"]) {
    cpSync(join(ROOT, part), join(modules, "pigeonhole", part), { recursive: true });
  }
  for (const name of Object.keys(dependencies).filter((name) => name !== "better-sqlite3")) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  const driver = join(modules, "better-sqlite3");
  mkdirSync(driver);
  writeFileSync(join(driver, "package.json"), JSON.stringify({ name: "better-sqlite3", version, main: "index.js" }));
  writeFileSync(
    join(driver, "index.js"),
    `module.exports = function Database() { ${body} }; module.exports.SqliteError = class extends Error {};`,
  );
  return project;
}

function run(project: string, args: string[]) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" });
  return { status, signal, said: stdout + stderr };
}

const bin = "node_modules/pigeonhole/dist/cli/bin.js";
const create = (rest = "") => [
  "--input-type=module",
  "--eval",
  `import { createReceiver } from "pigeonhole";
   const receiver = createReceiver({ secrets: "whsec_${"x".repeat(43)}", store: "inbox.db", telemetry: false });
   ${rest}`,
];

describe("a better-sqlite3 that ends the process", () => {
  let project = "";
  beforeAll(() => (project = makeProject("12.11.1", "process.abort();")));
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test.each([
    ["createReceiver", create()],
    ["the command line", [bin, "inbox", "list", "--db", "package.json"]],
    ["doctor", [bin, "doctor"]],
  ])("a better-sqlite3 that ends the process is not loaded by %s, which says what to install", (_, args) => {
    writeFileSync(join(project, "package.json"), "{}");
    const { status, signal, said } = run(project, args);
    expect([signal, status === 0]).toEqual([null, false]);
    expect(said).toContain("npm install better-sqlite3@13 on this Node");
    expect(said).not.toContain("unusable\n    at ");
  });

  test("the doctor's fix names the better-sqlite3 that ends the process, and nothing else", () => {
    writeFileSync(join(project, "package.json"), "{}");
    const checks = run(project, [bin, "doctor", "--json"])
      .said.split("\n")
      .filter((line) => line !== "");
    const check = checks.map((line) => JSON.parse(line) as { check: string }).find(({ check }) => check === "sqlite");
    expect(check).toMatchObject({
      status: "fail",
      fix: expect.stringMatching(/^better-sqlite3 12\.11\.1 .* Run npm install better-sqlite3@13 on this Node/),
    });
  });

  test("a better-sqlite3 that ends the process does so if it is loaded", () => {
    expect(run(project, ["--eval", 'new (require("better-sqlite3"))(":memory:")']).signal).toBe("SIGABRT");
  });
});

describe("a better-sqlite3 without its native module", () => {
  test.each([
    ["an install without scripts", 'throw new Error("Could not locate the bindings file. Tried:\\n → build");'],
    ["a system without a prebuilt binary", 'require("./build/Release/better_sqlite3.node");'],
    [
      "node_modules of another Node",
      'throw Object.assign(new Error("The module was compiled against a different Node.js version\\nusing"), { code: "ERR_DLOPEN_FAILED" });',
    ],
  ])("after %s, start() names the missing native module and what to run", (_, body) => {
    const project = makeProject("13.2.0", body);
    try {
      const { status, said } = run(
        project,
        create("await receiver.start().catch((e) => console.log(e.code, e.message))"),
      );
      expect([status, said]).toEqual([
        0,
        expect.stringMatching(/^driver_unusable .* run npm rebuild better-sqlite3\.\n$/),
      ]);
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  });
});
