import { existsSync } from "node:fs";
import { join } from "node:path";
import { TEST_SECRET, sampleEvent } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { appHostOf } from "#pigeonhole/scaffold/mount/app-host.js";
import { startProgram } from "../support/start-program.js";
import { findFreePort } from "../support/free-port.js";
import { MINUTE, PLAIN_ENV, ROOT, run, useExampleProject } from "./example-project.js";
import { readDocument } from "./markdown.js";
import { postSigned } from "./run-example.js";

// The programs of examples/hosts with the real packages.

const project = useExampleProject("hosts");

/** The program takes what a body parser in front would refuse, and its own routes have their parsed bodies. */
async function tryProgram(args: readonly string[], cwd = project, more: Record<string, string> = {}): Promise<void> {
  const port = String(await findFreePort());
  const url = `http://127.0.0.1:${port}`;
  const env = { PORT: port, WEBHOOK_SECRET: TEST_SECRET, DATABASE_FILE: join(project, `${port}.db`) };
  const program = startProgram({ command: process.execPath, args, cwd, env: { ...PLAIN_ENV, ...more, ...env } });
  const output = (): string => program.output();
  const orders = async () => {
    const headers = { "content-type": "application/json" };
    return (await fetch(`${url}/orders`, { method: "POST", body: '{"paid":true}', headers })).json();
  };
  const order = () => orders().catch(() => output());
  await expect.poll(order, { timeout: MINUTE }).toEqual({ order: { paid: true } });
  const large = sampleEvent("email.opened", { filler: "x".repeat(2_000_000) });
  expect(await postSigned(`${url}/webhooks/mail`, large), output()).toEqual([200, "accepted"]);
  expect(await postSigned(`${url}/webhooks/mail`, large)).toEqual([200, "duplicate"]);
  expect(await postSigned(`${url}/webhooks/mail`, "no JSON")).toEqual([200, "parked"]);
  await expect.poll(output).toContain('"handler":"audit","attempt":1');
  program.child.kill("SIGTERM");
  expect([0, null], output()).toContain((await program.ended).code); // NestJS ends itself by the signal again
  expect(existsSync(`${env.DATABASE_FILE}-wal`), "the receiver was stopped, which closed its file").toBe(false);
}

test.each(["node-http", "hono", "koa", "fastify", "nest", "nest on fastify"])(
  "examples/hosts: %s takes deliveries beside its own routes",
  async (name) => {
    const [program = "", adapter = ""] = name.split(" on ");
    await tryProgram(["--import", "tsx", `${program}.ts`], project, { ADAPTER: adapter });
  },
);

test("examples/hosts/next takes deliveries beside its own routes, once it is built", async () => {
  const [next, app] = [join(project, "node_modules/next/dist/bin/next"), join(project, "next")];
  await run(process.execPath, [next, "build"], app);
  await tryProgram([next, "start", "--hostname", "127.0.0.1"], app, { NEXT_MANUAL_SIG_HANDLE: "true" });
});

test("the programs of examples/hosts have no error of types", async () => {
  await run(process.execPath, [join(ROOT, "node_modules/.bin/tsc"), "--project", project], project);
});

const CORE = ["@nestjs/core", "next", "fastify", "koa", "hono", "express"];

test.each([...CORE, "none of them"])("docs/mounting.md has the line that add and doctor print for %s", (dependency) => {
  const { name, line } = appHostOf({ dependencies: { [dependency]: "1" } });
  const row = readDocument("docs/mounting.md").match(new RegExp(`^\\| ${name}.*$`, "m"))?.[0];
  expect(row).toContain(`\`${line.replaceAll("mailReceiver", "receiver")}\``);
});
