import { signDelivery } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { runCli } from "../support/run-cli.js";
import { startProgram } from "../support/start-program.js";
import { linkPackages, makeFiles } from "./scratch.js";

// Apps that had no receiver, changed by the command and run by Node as they then are.

const SECRET = `whsec_${"mount".repeat(8)}`;

const MODULE = `import express from "express";
const app = express();
app.use(express.json());
app.post("/echo", (req, res) => { res.json(req.body); });
app.listen(Number(process.env.PORT), "127.0.0.1");
process.on("SIGTERM", () => { console.log("ends"); process.exit(0); });
`;

const COMMON = `const express = require('express')
const bodyParser = require('body-parser')
const app = express()
app.use(bodyParser.json())
app.post('/echo', (req, res) => { res.json(req.body) })
app.listen(Number(process.env.PORT), '127.0.0.1')
`;

/** As express-generator lays it out. */
const GENERATED = {
  "package.json": '{"scripts":{"start":"node ./bin/www"}}',
  "app.js": `var express = require('express');
var app = express();
app.use(express.json());
app.post('/echo', (req, res) => { res.json(req.body); });
module.exports = app;
`,
  "bin/www": `#!/usr/bin/env node
var app = require('../app');
var http = require('http');
var server = http.createServer(app);
server.listen(Number(process.env.PORT), '127.0.0.1');
`,
};

const IN_FUNCTION = {
  "package.json": '{"type":"module"}',
  "src/app.js": `import express from "express";
export function createApp() {
  const app = express();
  app.use(express.json());
  app.post("/echo", (req, res) => { res.json(req.body); });
  return app;
}
`,
  "src/server.js": `import { createServer } from "node:http";
import { createApp } from "./app.js";
createServer(createApp()).listen(Number(process.env.PORT), "127.0.0.1");
`,
};

const IN_MAIN = `import express from "express";
async function main() {
  const app = express();
  app.use(express.json());
  app.post("/echo", (req, res) => { res.json(req.body); });
  app.listen(Number(process.env.PORT), "127.0.0.1");
}
await main();
`;

test.each<[string, Record<string, string>, string]>([
  ["an app that listens in a function", { "package.json": '{"type":"module"}', "server.js": IN_MAIN }, "server.js"],
  ["an ES module", { "package.json": '{"type":"module"}', "server.js": MODULE }, "server.js"],
  ["a CommonJS file", { "package.json": "{}", "server.js": COMMON }, "server.js"],
  ["an app of express-generator", GENERATED, "bin/www"],
  ["an app that a function makes", IN_FUNCTION, "src/server.js"],
])("%s accepts signed deliveries after the change, and its parser still works", async (_, files, entry) => {
  const folder = makeFiles(files);
  linkPackages(folder, ["express", "body-parser", "zod"]);
  expect((await runCli(["add", "--yes", "-e", "email.received"], { cwd: folder })).code).toBe(0);

  const port = await findFreePort();
  const env = { PORT: String(port), WEBHOOK_SECRET: SECRET };
  const app = startProgram({ command: process.execPath, args: [entry], cwd: folder, env });
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  await expect.poll(async () => (await post("/echo", '{"a":1}', {})).json()).toEqual({ a: 1 });

  const body = JSON.stringify({
    id: "evt_1",
    type: "email.received",
    createdAt: "2026-01-01T09:00:00Z",
    data: { messageId: "msg_1" },
  });
  const answer = await post("/webhooks/mail", body, signDelivery({ body, secret: SECRET }));
  expect([answer.status, answer.headers.get("x-pigeonhole-outcome")]).toEqual([200, "accepted"]);
  await expect.poll(() => app.output()).toContain('"messageId":"msg_1","msg":"email.received"');
  app.child.kill("SIGTERM");
  expect((await app.ended).stdout.endsWith("ends\n")).toBe(entry === "server.js" && files[entry] === MODULE);
});
