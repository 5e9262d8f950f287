import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { BIN } from "../support/start-cli.js";
import { startProgram } from "../support/start-program.js";

// Warnings of Node on standard error are faults of ours: a deprecated call, a timer that is too long, a listener too
// many.

const ROOT = resolve(import.meta.dirname, "../..");

const RECEIVER = `
  import { createReceiver } from ${JSON.stringify(pathToFileURL(join(ROOT, "dist/index.js")).href)};
  const receiver = createReceiver({ secrets: "whsec_${"x".repeat(43)}", store: "inbox.db" });
  receiver.on("email.received", () => {});
  await receiver.start();
  const alive = setInterval(() => {}, 1_000);
  process.once("SIGTERM", () => void receiver.stop().then(() => clearInterval(alive)));
  process.stdout.write("Ready.");`;

const start = (args: readonly string[], cwd: string) =>
  startProgram({ command: process.execPath, args, cwd, env: { NODE_OPTIONS: "" } });

test.each([
  ["a receiver", ["receiver.mjs"]],
  ["the dev server", [BIN, "dev", "--port", "0", "--page-port", "0"]],
  ["the sandbox", [BIN, "sandbox", "--port", "0"]],
])("%s starts and stops without any output on standard error", async (_, args) => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "receiver.mjs"), RECEIVER);
  const { ended, output, signal } = start(args, cwd);
  await expect.poll(output).toContain("Ready.");
  signal("SIGTERM");
  expect((await ended).stderr).toBe("");
});

test.each([["--version"], ["--help"], ["doctor"]])(
  "the command pigeonhole %s prints nothing on standard error",
  async (...args) => {
    expect((await start([BIN, ...args], ROOT).ended).stderr).toBe("");
  },
);
