import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { HAS_TERMINAL, KEY, startInTerminal, type Terminal } from "./terminal.js";
import { makeFolder } from "../support/folder.js";
import { isInstalled } from "../support/tools.js";

const PROGRAM = `'${process.execPath}' '${join(import.meta.dirname, "../../dist/cli/bin.js")}'`;

/** A folder with the script of a shell and a file to complete. */
async function makePlace(shell: string): Promise<string> {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "script"), (await runCli(["completion", shell])).stdout);
  mkdirSync(join(cwd, "fixtures"));
  writeFileSync(join(cwd, "fixtures", "bounce.json"), "{}");
  return cwd;
}

/** What is typed before Tab, and the line that it becomes. */
const LINES = [
  ["tri", "trigger"],
  ["inbox ret", "inbox retry"],
  ["trigger form.s", "trigger form.submitted"],
  ["trigger --sign ta", "trigger --sign tampered"],
  ["trigger --sign=ta", "trigger --sign=tampered"],
  ["--json inbox list --state le", "--json inbox list --state leased"],
  ["doctor --ap", "doctor --app"],
  ["api labels.pa", "api labels.palette"],
  ["captures import fixtures/b", "captures import fixtures/bounce.json"],
  ["inbox list --db fixtures/b", "inbox list --db fixtures/bounce.json"],
] as const;

/** Types each line, Tab and Enter, and reads what the command was called with. */
async function pressTabs(terminal: Terminal): Promise<string[]> {
  const before = terminal.screen.length;
  for (const [typed] of LINES) {
    terminal.press(`pigeonhole ${typed}`, KEY.tab);
    // Enter that arrives with Tab would be taken for a paste.
    await new Promise((resolve) => setTimeout(resolve, 200));
    terminal.press(KEY.enter);
    await terminal.shows("called<");
    await terminal.shows(">called");
  }
  terminal.press("exit", KEY.enter);
  await terminal.ended;
  return [...terminal.screen.slice(before).matchAll(/called<([^<>]*?)\s*>called/g)].map(([, line]) => line ?? "");
}

const COMPLETED = LINES.map(([, line]) => line);
const CALLED = `called() { printf 'call%s<%s>call%s\\n' ed "$*" ed; }; pigeonhole() { if [ "$1" = completion ]; then ${PROGRAM} "$@"; else called "$@"; fi; }`;

describe("Tab in a real shell", () => {
  test.skipIf(!HAS_TERMINAL || !isInstalled("bash"))(
    "Tab completes in bash (skipped without bash or util-linux)",
    async () => {
      const cwd = await makePlace("bash");
      const terminal = startInTerminal("bash --norc --noprofile -i", { cwd });
      terminal.press(`${CALLED}; source ./script; PS1='read''y> '`, KEY.enter);
      await terminal.shows("ready> ");
      expect(await pressTabs(terminal)).toEqual(COMPLETED);
    },
    60_000,
  );

  test.skipIf(!HAS_TERMINAL || !isInstalled("zsh")).each([
    ["evaluated", "source ./script"],
    ["put into fpath", "mkdir f; cp script f/_pigeonhole; fpath=($PWD/f $fpath); compinit -u -d ./dump"],
  ])(
    "Tab completes in zsh with the script %s (skipped without zsh or util-linux)",
    async (_, load) => {
      const cwd = await makePlace("zsh");
      const terminal = startInTerminal("zsh -f -i", { cwd });
      terminal.press(`autoload -U compinit; compinit -u -d ./dump; ${CALLED}; ${load}; PS1='read''y> '`, KEY.enter);
      await terminal.shows("ready> ");
      expect(await pressTabs(terminal)).toEqual(COMPLETED);
    },
    60_000,
  );

  test.skipIf(!isInstalled("zsh"))(
    "the zsh script says what to run first if zsh has no completion system",
    async () => {
      const cwd = await makePlace("zsh");
      const { stdout, stderr } = spawnSync("zsh", ["-f", "-c", "source ./script"], { cwd, encoding: "utf8" });
      expect([stdout, stderr]).toEqual(["", expect.stringContaining("autoload -Uz compinit && compinit")]);
    },
  );

  test.skipIf(!isInstalled("fish"))("Tab completes in fish (skipped without fish)", async () => {
    const cwd = await makePlace("fish");
    const line = `function pigeonhole; ${PROGRAM} $argv; end; source ./script; for line in $argv; complete -C "pigeonhole $line" | string split -f 1 \\t; end; true`;
    const typed = LINES.map(([words]) => words);
    const env = { ...process.env, HOME: cwd, XDG_CONFIG_HOME: cwd, XDG_DATA_HOME: cwd };
    const output = execFileSync("fish", ["--no-config", "-c", line, ...typed], { cwd, env, encoding: "utf8" });
    // fish gives the last word whole.
    expect(output.trim().split("\n")).toEqual(COMPLETED.map((words) => words.split(" ").at(-1)));
  });
});
