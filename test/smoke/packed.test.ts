import { readFileSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { runToEnd, startProgram } from "../support/start-program.js";
import { makeFiles, ROOT } from "../scaffold/scratch.js";

const RECEIVER = `
  import { createReceiver } from "pigeonhole";
  import { deliver, sampleEvent, TEST_SECRET } from "pigeonhole/testing";
  for (const entry of ["client", "dashboard", "postgres", "protocol", "sandbox"]) await import("pigeonhole/" + entry);
  const receiver = createReceiver({ secrets: TEST_SECRET, store: "inbox.db" });
  receiver.on("email.received", (event) => console.log("ran", event.type), { name: "log" });
  await receiver.start();
  console.log((await deliver(receiver, sampleEvent("email.received"))).outcome);
  await receiver.stop();`;

const APP = `import express from "express";
const app = express();
app.use(express.json());
app.listen(Number(process.env.PORT), () => console.log("listens"));
`;

/** The commands for an app and for a new project, without a terminal that could answer. */
const COMMANDS = [
  ...readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/^npx pigeonhole ((?:add|init)\b.*?) +#/gm),
].map(([, words = ""]) => [...words.split(" "), "--yes", ...(words.startsWith("init") ? ["--no-install"] : [])]);

test("the packed package installs, a receiver does its work, and the README's commands do theirs", async () => {
  const folder = makeFiles({
    "package.json": '{ "type": "module", "private": true }',
    "receiver.mjs": RECEIVER,
    "app.js": APP,
  });
  const run = async (command: string, args: readonly string[]): Promise<string> =>
    (await runToEnd({ command, args, cwd: folder })).stdout;
  await run("npm", ["pack", ROOT, "--ignore-scripts", "--loglevel=error"]);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? expect.unreachable();
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", `./${tarball}`]);
  expect(await run(process.execPath, ["receiver.mjs"])).toMatch(/ran email\.received\naccepted\n$/);
  const bin = join(folder, "node_modules/.bin/pigeonhole");
  expect(await run(bin, ["inbox", "list", "--db", "inbox.db"])).toMatch(/email\.received/);

  expect(COMMANDS.map(([command]) => command)).toEqual(["add", "init"]);
  for (const args of COMMANDS) await run(bin, args);
  expect(readdirSync(join(folder, "mail-receiver"))).toContain("package.json");
  symlinkSync(join(ROOT, "node_modules/express"), join(folder, "node_modules/express"));
  const port = String(await findFreePort());
  const app = startProgram({
    command: process.execPath,
    args: ["--env-file=.env", "app.js"],
    cwd: folder,
    env: { PORT: port },
  });
  await app.line(/^listens$/);
  expect(await run(bin, ["trigger", "email.received", "--to", `http://127.0.0.1:${port}/webhooks/mail`])).toMatch(
    /200/,
  );
});
