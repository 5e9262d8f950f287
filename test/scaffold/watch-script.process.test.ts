import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { startProgram } from "../support/start-program.js";
import { ROOT } from "./scratch.js";

/** The script `app` of a new project. */
function readAppScript(): string {
  const file = readFileSync(join(ROOT, "templates/__common__/_package.json"), "utf8");
  const { scripts } = JSON.parse(file) as { scripts: { app: string } };
  return scripts.app;
}

test("an app that ends while it loads is started again once any of its files is fixed", async () => {
  const cwd = makeFolder();
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
  writeFileSync(join(cwd, "src/server.ts"), 'import "./part.js";\nconsole.log("the app runs");\n');
  writeFileSync(join(cwd, "src/part.ts"), 'throw new Error("broken");\n');
  const path = [join(ROOT, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  const app = startProgram({ command: "sh", args: ["-c", `exec ${readAppScript()}`], cwd, env: { PATH: path } });
  onTestFinished(async () => {
    app.child.kill("SIGTERM");
    await app.ended;
  });
  await expect.poll(() => app.output()).toContain("Error: broken");
  const fix = () => {
    writeFileSync(join(cwd, "src/part.ts"), "export const part = 1;\n");
    return app.output();
  };
  // Saved again if the first time was before it watched.
  await expect.poll(fix, { interval: 3_000 }).toContain("the app runs");
});
