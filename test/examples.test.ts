import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// `npm start` without its build, in a folder of its own so that its inbox does not meet the reader's.

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "pigeonhole-example-"));
let demo: ChildProcess;
let output = "";
let ended: Promise<number | null>;

beforeAll(async () => {
  for (const part of ["examples", "package.json"]) cpSync(join(root, part), join(folder, part), { recursive: true });
  for (const part of ["node_modules", "dist"]) symlinkSync(join(root, part), join(folder, part));
  rmSync(join(folder, "examples/inbox.db"), { force: true });
  demo = spawn(process.execPath, [join(root, "node_modules/tsx/dist/cli.mjs"), "examples/start.ts"], {
    cwd: folder,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  demo.stdout?.on("data", (text: Buffer) => (output += text.toString()));
  demo.stderr?.on("data", (text: Buffer) => (output += text.toString()));
  ended = new Promise((done) => demo.once("exit", (code) => done(code)));
  await vi.waitFor(() => expect(output).toContain("curl -i"), { timeout: 20_000 });
}, 30_000);

afterAll(() => {
  demo.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("the demo shows what the service hears for each kind of delivery", () => {
  const answers = [...output.matchAll(/^(\S.*)\n(?: {6}.*\n)*? {3}→ {2}(\d{3}), (\w+)/gm)];
  expect(answers.map(([, what, status, outcome]) => [what, status, outcome])).toEqual([
    ["a bounce", "200", "accepted"],
    ["the same delivery again", "200", "duplicate"],
    ["one byte of it changed", "503", "unverified"],
    ["signed ten minutes ago", "503", "unverified"],
    ["no signature", "401", "unsigned"],
    ["a type newer than this package", "200", "parked"],
    ["data that its schema refuses", "200", "parked"],
    ["a body of 2 MB", "200", "accepted"],
    ["an open whose handler fails once", "200", "accepted"],
    ["a complaint whose handler gives up", "200", "accepted"],
  ]);
});

test("the demo shows which handlers ran", () => {
  expect(output).toContain('is in the table "bounced"');
  expect(output).toContain("inbox: email.bounced done after 1 run");
  expect(output).toContain("inbox: statistics done after 2 runs");
  expect(output).toContain("inbox: email.complained dead (do_not_retry) after 1 run");
  expect(output).toContain("inbox: parked (unknown_type)");
  expect(output).toContain("inbox: parked (bad_data)");
});

test("the printed curl is accepted as it stands, and is a duplicate the second time", () => {
  const [command = ""] = /^curl .*$/m.exec(output) ?? [];
  const run = () => spawnSync("sh", ["-c", command.replace("curl -i", "curl -s -i")], { encoding: "utf8" }).stdout;
  expect(run()).toMatch(/^HTTP\/1\.1 200 [\s\S]*x-pigeonhole-outcome: accepted/);
  expect(run()).toMatch(/^HTTP\/1\.1 200 [\s\S]*x-pigeonhole-outcome: duplicate/);
});

test("Ctrl-C drains and ends with 0", async () => {
  demo.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(output).toContain("Stopped.");
});
