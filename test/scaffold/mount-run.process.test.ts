import { signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { runCommand, startProgram } from "./run-command.js";
import { linkPackages, makeFiles } from "./scratch.js";

// Apps that had no receiver, changed by the command and run by Node as they then are.

const SECRET = `whsec_${"mount".repeat(8)}`;

const MODULE = `import express from "express";
const app = express();
app.use(express.json());
app.post("/echo", (req, res) => { res.json(req.body); });
app.listen(Number(process.env.PORT), "127.0.0.1");
`;

const COMMON = `const express = require('express')
const bodyParser = require('body-parser')
const app = express()
app.use(bodyParser.json())
app.post('/echo', (req, res) => { res.json(req.body) })
app.listen(Number(process.env.PORT), '127.0.0.1')
`;

test.each([
  ["an ES module", '{"type":"module"}', MODULE],
  ["a CommonJS file", "{}", COMMON],
])("%s accepts signed deliveries after the change, and its parser still works", async (_, manifest, text) => {
  const folder = makeFiles({ "package.json": manifest, "server.js": text });
  linkPackages(folder, ["express", "body-parser"]);
  expect((await runCommand(["add", "--write", "-e", "email.received"], folder)).code).toBe(0);

  const port = await findFreePort();
  const env = { PORT: String(port), WEBHOOK_SECRET: SECRET };
  const app = startProgram({ command: process.execPath, args: ["server.js"], cwd: folder, env });
  onTestFinished(() => void app.child.kill("SIGKILL"));
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  await expect.poll(async () => (await post("/echo", '{"a":1}', {})).json()).toEqual({ a: 1 });

  const body = JSON.stringify({ id: "evt_1", type: "email.received", createdAt: "2026-01-01T09:00:00Z", data: {} });
  const answer = await post("/webhooks/mail", body, signDelivery({ body, secret: SECRET }));
  expect([answer.status, answer.headers.get("x-pigeonhole-outcome")]).toEqual([200, "accepted"]);
  await expect.poll(() => app.output()).toContain('"msg":"email.received"');
});
