import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { endWithTest } from "./support/end-with-test.js";
import { makeFolder } from "./support/folder.js";

// Warnings of Node on standard error are faults of ours: a deprecated call, a timer that is too long, a listener too
// many.

const ROOT = resolve(import.meta.dirname, "..");
const BIN = join(ROOT, "dist/cli/bin.js");

const RECEIVER = `
  import { createReceiver } from ${JSON.stringify(pathToFileURL(join(ROOT, "dist/index.js")).href)};
  const receiver = createReceiver({ secrets: "whsec_${"x".repeat(43)}", store: "inbox.db" });
  receiver.on("email.received", () => {});
  await receiver.start();
  const alive = setInterval(() => {}, 1_000);
  process.once("SIGTERM", () => void receiver.stop().then(() => clearInterval(alive)));
  process.stdout.write("Ready.");`;

/** What it says on standard error until it was ready, was asked to stop, and has ended. */
async function readErrors(child: ChildProcess): Promise<string> {
  const said = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  const ended = new Promise((done) => child.once("close", done));
  await expect.poll(() => said.stdout + said.stderr, { timeout: 20_000 }).toContain("Ready.");
  child.kill("SIGTERM");
  await ended;
  return said.stderr;
}

test.each([
  ["a receiver", ["receiver.mjs"]],
  ["the dev server", [BIN, "dev", "--port", "0", "--page-port", "0"]],
  ["the sandbox", [BIN, "sandbox", "--port", "0"]],
])("%s starts and stops without any output on standard error", async (_, args) => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "receiver.mjs"), RECEIVER);
  expect(await readErrors(start(args, cwd))).toBe("");
});

function start(args: readonly string[], cwd: string) {
  const env = { ...process.env, NODE_OPTIONS: "", FORCE_COLOR: undefined };
  return endWithTest(spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
}

test.each([["--version"], ["--help"], ["doctor"]])(
  "the command pigeonhole %s prints nothing on standard error",
  async (...args) => {
    const child = start([BIN, ...args], ROOT);
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    await new Promise((done) => child.once("close", done));
    expect(errors).toBe("");
  },
);
