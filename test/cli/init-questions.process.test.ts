import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN } from "../support/start-cli.js";
import { HAS_TERMINAL, KEY, startInTerminal, type Terminal } from "./terminal.js";
import { makeFolder } from "../support/folder.js";

function startInit(cwd: string, args = ""): Terminal {
  return startInTerminal(`"${process.execPath}" "${BIN}" init ${args}`, { cwd });
}

// Skipped where there is no util-linux to make a terminal.
describe.skipIf(!HAS_TERMINAL)("the questions of init in a terminal", () => {
  test("the questions of init are answered with text, arrow keys, space and Enter", async () => {
    const cwd = makeFolder();
    const init = startInit(cwd, "--no-install --no-git");
    await init.shows("Where?");
    init.press("my-app", KEY.enter);
    await init.shows("Which template?");
    init.press(KEY.down);
    await init.shows("● express-sqlite-app");
    init.press(KEY.down);
    await init.shows("● express-postgres-app");
    init.press(KEY.down);
    await init.shows("● hono");
    init.press(KEY.enter);
    await init.shows("Which events");
    init.press(KEY.enter);
    await init.shows("No more questions.");
    expect(await init.ended).toBe(0);
    const folder = join(cwd, "my-app");
    const { name, dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      name: string;
      dependencies: Record<string, string>;
    };
    expect(name).toBe("my-app");
    expect(Object.keys(dependencies)).toContain("hono");
    expect(existsSync(join(folder, "Dockerfile"))).toBe(true);
    expect(existsSync(join(folder, ".git"))).toBe(false);
    expect(existsSync(join(folder, "node_modules"))).toBe(false);
    expect(init.screen).toContain("cd my-app");
  });

  test.each([
    ["the first question", ""],
    ["a later one", "new-app --template express"],
  ])("the questions of init end with 130 and write nothing after Ctrl-C at %s", async (_, args) => {
    const cwd = makeFolder();
    const init = startInit(cwd, args);
    await init.shows("◆");
    init.press(KEY.ctrlC);
    expect(await init.ended).toBe(130);
    expect(init.screen).toContain("Nothing was written.");
    expect(init.screen).not.toMatch(/error|at .*\.js/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("the questions of init refuse a folder that is not empty, and ask for another", async () => {
    const cwd = makeFolder();
    mkdirSync(join(cwd, "taken"));
    writeFileSync(join(cwd, "taken", "notes.txt"), "mine");
    const init = startInit(cwd, "--template express --events email.received --no-install --no-git --no-docker");
    await init.shows("Where?");
    init.press("taken", KEY.enter);
    await init.shows("not empty");
    expect(readdirSync(join(cwd, "taken"))).toEqual(["notes.txt"]);
    init.press("-not", KEY.enter);
    expect(await init.ended).toBe(0);
    expect(readdirSync(cwd).toSorted()).toEqual(["taken", "taken-not"]);
  });

  test("init asks no questions if the command line answers all of them", async () => {
    const cwd = makeFolder();
    const init = startInit(cwd, "app -t express -e email.received --no-install --no-git --no-docker");
    expect(await init.ended).toBe(0);
    expect(init.screen).not.toContain("◆");
    expect(existsSync(join(cwd, "app", "package.json"))).toBe(true);
  });
});
