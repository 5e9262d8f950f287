import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runToEnd } from "../support/start-program.js";
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

test("the packed package installs, its command runs, and a receiver does its work", { timeout: 120_000 }, async () => {
  const folder = makeFiles({ "package.json": '{ "type": "module", "private": true }', "receiver.mjs": RECEIVER });
  const run = async (command: string, args: readonly string[]): Promise<string> =>
    (await runToEnd({ command, args, cwd: folder })).stdout;
  await run("npm", ["pack", ROOT, "--ignore-scripts", "--loglevel=error"]);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? expect.unreachable();
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", `./${tarball}`]);
  expect(await run(process.execPath, ["receiver.mjs"])).toMatch(/ran email\.received\naccepted\n$/);
  const bin = join(folder, "node_modules/.bin/pigeonhole");
  expect(await run(bin, ["inbox", "list", "--db", "inbox.db"])).toMatch(/email\.received/);
});
