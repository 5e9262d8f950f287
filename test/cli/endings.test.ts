import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { describeError } from "#pigeonhole/cli/frame/command-error.js";
import { BIN, jsonLines, makeFolder, runCli, SECRET } from "./support/run-cli.js";
import { HAS_TERMINAL, KEY, startInTerminal } from "./support/terminal.js";

/** Runs a command whose reader goes away at once. */
async function runUnread(args: readonly string[], stream: "stdout" | "stderr") {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let rest = "";
  child[stream].destroy();
  child[stream === "stdout" ? "stderr" : "stdout"].setEncoding("utf8").on("data", (text: string) => (rest += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, rest };
}

describe("a reader that goes away", () => {
  test.each([[["--help"]], [["trigger", "--list"]], [["completion", "zsh"]]])(
    "of the output of %j, as head does, is no error",
    async (args) => {
      expect(await runUnread(args, "stdout")).toEqual({ code: 0, rest: "" });
    },
  );

  test("of remarks and errors leaves the exit code as it is", async () => {
    expect(await runUnread(["trigger", "email.snt"], "stderr")).toEqual({ code: 2, rest: "" });
  });
});

test.each(["EACCES", "EPERM", "EROFS", "ENOSPC", "ENAMETOOLONG"])(
  "a file that cannot be written because of %s is named in words, without a stack",
  (code) => {
    const error = Object.assign(new Error(`${code}: no, open '/data/x'`), { code, path: "/data/x" });
    const { exitCode, message, stack } = describeError(error);
    expect([exitCode, stack]).toEqual([2, ""]);
    expect(message).toMatch(/^\/data\/x [a-z][^A-Z]*\.$/);
  },
);

// A folder in which nobody may write, root included; only Linux has it.
test.skipIf(!existsSync("/sys/kernel"))(
  "init into a folder where nobody may write names it, and ends with 2",
  async () => {
    const { code, stdout, stderr } = await runCli(["init", "/sys/app", "--yes", "--no-install", "--no-git"]);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("The folder /sys/app cannot be made (E")]);
  },
);

// Skipped where there is no util-linux to make a terminal.
describe.skipIf(!HAS_TERMINAL)("a question, in a terminal", () => {
  async function askToRemove() {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "events.json"), JSON.stringify(sampleEvent("email.sent")));
    await runCli(["captures", "import", "events.json"], { cwd, env: { WEBHOOK_SECRET: SECRET } });
    const terminal = startInTerminal(`"${process.execPath}" "${BIN}" captures rm all`, { cwd });
    await terminal.shows("Delete 1 capture?");
    const left = async () => jsonLines(await runCli(["captures", "list", "--json"], { cwd })).length;
    return { terminal, left };
  }

  test("left with Ctrl-C ends with 130, and nothing was deleted", { timeout: 30_000 }, async () => {
    const { terminal, left } = await askToRemove();
    terminal.press(KEY.ctrlC);
    expect(await terminal.ended).toBe(130);
    expect(await left()).toBe(1);
  });

  test("answered with Enter means no and ends with 1; with y, yes and 0", { timeout: 30_000 }, async () => {
    const no = await askToRemove();
    no.terminal.press(KEY.enter);
    expect([await no.terminal.ended, await no.left()]).toEqual([1, 1]);
    const yes = await askToRemove();
    yes.terminal.press("y");
    expect([await yes.terminal.ended, await yes.left()]).toEqual([0, 0]);
  });
});
