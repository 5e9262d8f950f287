import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { describeError } from "#pigeonhole/cli/frame/command-error.js";
import { runCli, SECRET } from "../support/run-cli.js";
import { BIN, startCli } from "../support/start-cli.js";
import { startProgram } from "../support/start-program.js";
import { importEvents } from "./import-events.js";
import { HAS_TERMINAL, KEY, startInTerminal } from "./terminal.js";
import { makeFolder } from "../support/folder.js";
import { isRoot } from "../support/tools.js";

test.each([
  [["trigger", "--body", "-", "--sign", "missing", "--print"], 0],
  [["inbox", "list", "--json"], 2],
  [["trigger", "email.sent", "--to", "9", "--sign", "missing"], 3],
])("the program %j reads from a pipe, writes into pipes and ends with %i, as its command does", async (args, code) => {
  const options = { cwd: makeFolder(), env: { WEBHOOK_SECRET: SECRET }, input: "{}" };
  const { signal: _, ...ended } = await startCli(args, options).ended;
  const times = (text: string) => text.replaceAll(/evt_\w+|\d+ ms/g, "…");
  const command = await runCli(args, options);
  expect(ended.code).toBe(code);
  expect(times(JSON.stringify(ended))).toBe(times(JSON.stringify(command)));
});

test("help loads no native module and none of the package's heavy ones", async () => {
  const preload = join(makeFolder(), "count.cjs");
  // Natives come through process.dlopen, CommonJS packages through require.cache.
  writeFileSync(
    preload,
    `let natives = 0; const open = process.dlopen;
     process.dlopen = (...args) => { natives += 1; return open.apply(process, args); };
     process.on("exit", () => process.stderr.write(JSON.stringify({ natives, cjs: Object.keys(require.cache) })));`,
  );
  const seen = async (args: string[]) =>
    JSON.parse((await startCli(args, { node: ["--require", preload] }).ended).stderr) as {
      natives: number;
      cjs: string[];
    };
  const help = await seen(["--help"]);
  expect(help.natives).toBe(0);
  expect(help.cjs.filter((file) => /better-sqlite3|zod|pino/.test(file))).toEqual([]);
  // The counter counts: doctor opens a database.
  expect((await seen(["doctor", "--quiet"])).natives).toBeGreaterThan(0);
});

describe("a reader that closes the pipe early", () => {
  /** Runs a command whose reader goes away at once. */
  async function runUnread(args: readonly string[], stream: "stdout" | "stderr") {
    const { child, ended } = startCli(args);
    child[stream]?.destroy();
    const { code, stdout, stderr } = await ended;
    return { code, rest: stdout + stderr };
  }

  test.each([[["--help"]], [["api", "labels"]], [["postgres", "schema"]]])(
    "the output of %j into a pipe that is closed early, as by head, is no error",
    async (args) => {
      expect(await runUnread(args, "stdout")).toEqual({ code: 0, rest: "" });
    },
  );

  test("a reader that closes the pipe of standard error does not change the exit code", async () => {
    expect(await runUnread(["trigger", "email.snt"], "stderr")).toEqual({ code: 2, rest: "" });
  });
});

/** Runs a line of the shell, in which "$@" is the program with these arguments. */
function runInShell(line: string, args: readonly string[]) {
  const command = ["-c", line, "sh", process.execPath, BIN, ...args];
  return startProgram({ command: "sh", args: command, cwd: makeFolder() }).ended;
}

// Only Linux has a file that is always full.
describe.skipIf(!existsSync("/dev/full"))("output into a file on a full disk", () => {
  const runOnFullDisk = (args: readonly string[]) => runInShell('exec "$@" > /dev/full', args);

  test.each([[["api", "labels"]], [["postgres", "schema"]], [["--help"]]])(
    "the output of %j into a full disk is reported as a failure",
    async (args) => {
      const stderr = "error: Standard output cannot be written: the disk is full.\n";
      expect(await runOnFullDisk(args)).toMatchObject({ code: 2, stderr });
    },
  );

  test("a failed write of output is a JSON line with --json, and does not replace a more specific exit code", async () => {
    const { code, stderr } = await runOnFullDisk(["trigger", "email.sent", "--to", "9", "--sign", "missing", "--json"]);
    expect([code, JSON.parse(stderr)]).toMatchObject([3, { schemaVersion: 1, error: { code: "ENOSPC" } }]);
  });
});

// A file may hold no more than 512 or 1,024 bytes, by what the shell takes for a block; Windows has no such limit.
test.skipIf(process.platform === "win32")("output that is written only in part is reported as a failure", async () => {
  const { code, stderr } = await runInShell('ulimit -f 1; exec "$@" > part', ["--help"]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: Standard output cannot be written: .*\.\n$/)]);
});

test("an error names a file in a missing folder as it was given, and says what to do", async () => {
  const cwd = await importEvents(sampleEvent("email.sent"));
  const at = { cwd, env: { WEBHOOK_SECRET: SECRET } };
  for (const command of ["export all", "types all"]) {
    const { code, stderr } = await runCli(["captures", ...command.split(" "), "--out", "missing/file"], at);
    expect([code, stderr]).toEqual([2, `error: The folder of ${cwd}/missing/file does not exist; make it first.\n`]);
  }
});

// Root may read every file.
test.skipIf(isRoot())("a secret in a .env that the user may not read ends with 2 and names the file", async () => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, ".env"), `WEBHOOK_SECRET=${SECRET}\n`, { mode: 0 });
  const { code, stderr } = await runCli(["trigger", "email.sent"], { cwd });
  expect([code, stderr]).toEqual([
    2,
    `error: ${join(cwd, ".env")} may not be read by this user: permissions forbid it.\n`,
  ]);
});

test("no output contains the secret, whatever goes wrong with it", async () => {
  const marked = "whsec_canary_in_the_coal_mine";
  const api = (key: string, ...args: string[]) =>
    runCli(["api", "webhooks.list", ...args], {
      env: { PIGEONHOLE_BASE_URL: "http://127.0.0.1:9", PIGEONHOLE_API_KEY: key },
    });
  const runs = await Promise.all([
    runCli(["trigger", "email.sent", "--secret", marked, "--to", "http://127.0.0.1:9/", "--json"]),
    runCli(["doctor", "--secret", `"${marked}"`, "--json"]),
    runCli(["doctor", "--secret", `svc_live_${marked}`]),
    api(`${marked} `),
    api(`svc_live_${marked}`, "--json"),
  ]);
  for (const { stdout, stderr, code } of runs) {
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain("canary");
  }
});

test.each(["EACCES", "EPERM", "EROFS", "ENOSPC", "ENAMETOOLONG"])(
  "an error explains in words, without a stack, that a file cannot be written because of %s",
  (code) => {
    const error = Object.assign(new Error(`${code}: no, open '/data/x'`), { code, path: "/data/x" });
    const { exitCode, message, stack } = describeError(error);
    expect([exitCode, stack]).toEqual([2, undefined]);
    expect(message).toMatch(/^\/data\/x [a-z][^A-Z]*\.$/);
  },
);

// Skipped where there is no util-linux to make a terminal.
describe.skipIf(!HAS_TERMINAL)("a question in a terminal", () => {
  const ENDPOINT = `whe_${"0".repeat(24)}`;
  const env = { PIGEONHOLE_BASE_URL: "http://127.0.0.1:9", PIGEONHOLE_API_KEY: "k" };

  test.each([
    ["Ctrl-C ends the command with 130", KEY.ctrlC, 130],
    ["Enter means no and ends with 1", KEY.enter, 1],
    ["y means yes, and the call is made", "y", 3],
  ])("at a question, %s", async (_, key, code) => {
    const line = `"${process.execPath}" "${BIN}" endpoints rotate-secret ${ENDPOINT}`;
    const terminal = startInTerminal(line, { cwd: makeFolder(), env });
    await terminal.shows("The old one stops at once.");
    terminal.press(key);
    expect(await terminal.ended).toBe(code);
  });
});
