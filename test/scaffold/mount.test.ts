import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DATABASE_VARIABLE } from "#pigeonhole/cli/values/inbox-place.js";
import { planMount, type MountPlan } from "#pigeonhole/scaffold/mount/plan-mount.js";
import { readExpressApp } from "#pigeonhole/scaffold/mount/read-express-app.js";
import { writeMount } from "#pigeonhole/scaffold/mount/write-mount.js";
import { jsonLines, runCli } from "../support/run-cli.js";
import { makeFiles } from "./scratch.js";

const MODULE = '{"type":"module"}';
const COMMON = "{}";

function plan(files: Record<string, string>): MountPlan {
  return planMount({ folder: makeFiles(files), events: ["email.received"] });
}

/** What is planned for a project that is understood. */
function ready(files: Record<string, string>) {
  const result = plan(files);
  if (result.kind !== "ready") throw new Error(`Expected a plan, got ${JSON.stringify(result)}.`);
  const after = (path: string) => result.changes.find((change) => change.path === path)?.after;
  return { ...result, after, next: result.next.join("\n") };
}

/** The app's file after the change. */
const mounted = (files: Record<string, string>): string => ready(files).changes.at(-1)?.after ?? "";

/** A project whose app is made and listens in one file. */
const serverOf = (...lines: string[]) => ({ "package.json": MODULE, "server.js": app(...lines) });

const app = (...lines: string[]): string =>
  ['import express from "express";', "", "const app = express();", ...lines, ""].join("\n");

describe("the place of the mount", () => {
  test.each([
    ["express.json()", "app.use(express.json());"],
    ["a parser with options over several lines", 'app.use(\n  express.json({\n    limit: "1mb",\n  }),\n);'],
    ["a parser of one path", 'app.use("/api", express.json());'],
    ["express.urlencoded()", "app.use(express.urlencoded({ extended: true }));"],
    ["express.raw()", "app.use(express.raw());"],
  ])("the mount is inserted above %s", (_, parser) => {
    const text = mounted({ "package.json": MODULE, "app.js": app("app.use(log);", parser, "app.use(last);") });
    expect(text).toContain(`app.use(log);\n// Before every body parser`);
    expect(text).toContain(`app.post("/webhooks/mail", mailReceiver.middleware());\n${parser}`);
  });

  test.each([
    ['import { json } from "express";', "app.use(json());"],
    ['import { json as parse } from "body-parser";', "app.use(parse());"],
    ['import bodyParser from "body-parser";', "app.use(bodyParser.json());"],
    ['import parsers from "body-parser";', "app.use(parsers.urlencoded({ extended: false }));"],
  ])("the mount is inserted above a parser imported by %s", (line, parser) => {
    const text = mounted({ "package.json": MODULE, "app.js": `${line}\n${app("app.use(log);", parser)}` });
    expect(text).toContain(`mailReceiver.middleware());\n${parser}`);
  });

  test.each([
    ["there is no parser", "app.use(log);"],
    ["a parser is inside a block", "if (parse) {\n  app.use(express.json());\n}"],
    ["a parser is kept in a variable", "const parse = express.json();\napp.use(parse);"],
    ["a parser is in the chain of another call", "router\n  .use(express.json());\napp.use(express.json());"],
    ["a parser is only in a comment", "// app.use(express.json());\napp.use(log);"],
    ["a parser is only in a string", "app.use(log);\nconst help = `\napp.use(express.json());\n`;"],
  ])("the mount is inserted right after the app is made when %s", (_, lines) => {
    const text = mounted({ "package.json": MODULE, "app.js": app(lines) });
    expect(text).toMatch(/const app = express\(\);\n\/\/ Before.*\napp\.post\("\/webhooks\/mail", mailReceiver\./);
    expect(text.endsWith(`${lines}\n`)).toBe(true);
  });

  test("the mount stays in the function that makes the app", () => {
    const text = mounted({
      "package.json": MODULE,
      "app.ts": [
        'import express from "express";',
        "export function createApp() {",
        "  const app = express();",
        "  return setUp(app);",
        "}",
        "function setUp(app) {",
        "  app.use(express.json());",
        "}",
      ].join("\n"),
    });
    expect(text).toContain(
      '  const app = express();\n  // Before every body parser: the signature covers the raw bytes.\n  app.post("',
    );
  });

  test("the mount uses the quotes, semicolons and line ends of the file", () => {
    const text = "const express = require('express')\r\n\r\nconst app = express()\r\napp.use(express.json())\r\n";
    const after = mounted({ "package.json": COMMON, "index.js": text });
    expect(after).toContain("const { mailReceiver } = require('./webhooks/receiver.js')\r\n");
    expect(after).toContain("app.post('/webhooks/mail', mailReceiver.middleware())\r\napp.use(express.json())\r\n");
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test("the mount changes nothing but the lines that it adds", () => {
    const text = app("app.use(express.json());", "app.listen(3000);");
    const after = mounted({ "package.json": MODULE, "server.js": text }).split("\n");
    const added = /mailReceiver|Before every body parser/;
    expect(after.filter((line) => !added.test(line))).toEqual(text.split("\n"));
    expect(after.filter((line) => added.test(line))).toHaveLength(4);
  });
});

test.each([
  ["app.use(login);\napp.use(express.json());", true],
  ["app.use(express.json());\napp.use(login);", false],
])("the code above the mount is reported: %j", (lines, isPointedOut) => {
  expect(/a login check/.test(ready({ "package.json": MODULE, "app.js": app(lines) }).next)).toBe(isPointedOut);
});

describe("the place of the start", () => {
  test.each([
    ["a named import", MODULE, 'import { app } from "./app.js";'],
    ["a default import", MODULE, "import app from './app'"],
    ["another name", MODULE, 'import { app as server } from "./app.js";'],
    ["require", COMMON, 'const { app: server } = require("./app");'],
  ])("the start is inserted into the file that has the app by %s and lets it listen", (_, manifest, line) => {
    const name = line.includes("server") ? "server" : "app";
    const end = line.endsWith(";") ? ";" : "";
    const [head, start] =
      manifest === MODULE
        ? ['import express from "express";', "await"]
        : ['const express = require("express");', "void"];
    const { after, next } = ready({
      "package.json": manifest,
      "app.js": `${head}\nconst app = express();\n`,
      "server.js": `${line}\n\n${name}.listen(3000)${end}\n`,
    });
    // The receiver is named as the app is.
    const added = line.replace(/^(\w+) .* (?=from|=)/, "$1 { mailReceiver } ").replace("./app", "./webhooks/receiver");
    expect(after("server.js")).toBe(
      `${line}\n${added}\n\n${start} mailReceiver.start()${end}\n${name}.listen(3000)${end}\n`,
    );
    expect(next).not.toContain("before the app listens");
  });

  test.each([
    ["a server of its own", "app", "createServer(app).listen(3000);"],
    ["a server in a variable", "app", "const server = http.createServer({}, app);\n\nserver.listen(3000);"],
    ["a listening server in a variable", "app", "const server: Server = createServer(app).listen(3000);"],
    ["an app that a function makes", "createApp", "createApp().listen(3000);"],
    ["a server of such an app", "createApp", 'createServer(createApp({ a: ")" })).listen(3000);'],
    [
      "such an app in a variable",
      "createApp",
      "const app = createApp();\nconst server = createServer(app);\nserver.listen(3000);",
    ],
  ])("the start is inserted where %s listens", (_, name, lines) => {
    const server = `import { createServer } from "node:http";\nimport { ${name} } from "./app.js";\n\n${lines}\n`;
    const files = { "package.json": MODULE, "src/app.js": app("app.use(log);"), "src/server.js": server };
    const { after, next } = ready(files);
    const changed = lines.replace(/^(?=.*\.listen\()/m, "await mailReceiver.start();\n");
    expect(after("src/server.js")).toBe(
      server
        .replace("\n\n", '\nimport { mailReceiver } from "./webhooks/receiver.js";\n\n')
        .replace(lines, () => changed),
    );
    expect(next).not.toContain("before the app listens");
  });

  test.each([
    ["a plain app.listen", MODULE, "server.js", "await", "app.listen(3000);"],
    [
      "a server of the app",
      MODULE,
      "server.js",
      "await",
      "const server = http.createServer(app);\nserver.listen(3000);",
    ],
    ["a file that Node reads as CommonJS", COMMON, "server.ts", "void", "const server = app.listen(3000);"],
  ])("the start is inserted where the app's own file lets it listen, by %s", (_, manifest, path, start, lines) => {
    const changed = lines.replace(/^(?=.*\.listen\()/m, `${start} mailReceiver.start();\n`);
    expect(mounted({ "package.json": manifest, [path]: app(lines) })).toContain(changed);
  });

  test.each([["bin/www"], ["bin/www.js"]])("an app of express-generator is started in %s", (path) => {
    const www = [
      "#!/usr/bin/env node",
      "",
      "var app = require('../app');",
      "var debug = require('debug')('mail:server');",
      "var http = require('http');",
      "",
      "var port = normalizePort(process.env.PORT || '3000');",
      "app.set('port', port);",
      "var server = http.createServer(app);",
      "",
      "server.listen(port);",
      "server.on('error', onError);",
      "",
    ].join("\n");
    const { changes } = ready({
      "package.json": JSON.stringify({ scripts: { start: `node ./${path}` } }),
      "app.js":
        "var express = require('express');\nvar app = express();\n\napp.use(express.json());\nmodule.exports = app;\n",
      [path]: www,
    });
    expect(changes.map((change) => change.path)).toEqual([
      path,
      "webhooks/receiver.js",
      ".gitignore",
      ".env",
      "app.js",
    ]);
    expect(changes[0]?.after).toBe(
      www
        .replace("('http');\n", "('http');\nconst { mailReceiver } = require('../webhooks/receiver');\n")
        .replace("server.listen", "void mailReceiver.start();\nserver.listen"),
    );
  });

  test.each([
    ["lets the app listen twice", "app.listen(1);\napp.listen(2);"],
    ["lets it listen under a condition", "if(isMain) createServer(app).listen(1);"],
    [
      "lets it listen where the condition is on the line before",
      "async function main() {\n  if (isMain)\n    app.listen(1);\n}",
    ],
    ["lets something else listen", "use(app);\nchannel.listen(1);"],
  ])("a server file that %s is not changed", (_, lines) => {
    const server = `import { app } from "./app.js";\n${lines}\n`;
    const { changes, next } = ready({ "package.json": MODULE, "app.js": app("app.use(log);"), "server.js": server });
    expect(changes.map(({ path }) => path)).toEqual(["webhooks/receiver.js", ".gitignore", ".env", "app.js"]);
    expect(next).toContain("before the app listens");
  });

  test.each([
    ["an async function", "async function main() {", "  app.listen(1);"],
    ["a function", "function main() {", "  const server = app.listen(1);"],
    ["an exported function", "export function start(port = 1) {", "  return app.listen(port);"],
    ["an arrow function", "connect().then(() => {", "  app.listen(1);"],
    ["a method", "class Server { async run() {", "    app.listen(1);"],
    ["a function after a try", "async function main() { try {", "    app.listen(1);"],
    ["a condition", "if (isMain) {", "  app.listen(1);"],
    ["a loop", "for (const port of ports) {", "  app.listen(port);"],
    ["a promise", "async function main() {", "  await new Promise((done) => app.listen(1, done));"],
  ])("the start is inserted where the app listens in %s", (_, head, line) => {
    const lines = [head, "  connect();", line, "}"];
    const server = `import { app } from "./app.js";\n${lines.join("\n")}\n`;
    const { after } = ready({ "package.json": MODULE, "app.js": app("app.use(log);"), "server.js": server });
    const indent = /^ */.exec(line)?.[0] ?? "";
    expect(after("server.js")).toContain(`\n${indent}void mailReceiver.start();\n${line}\n`);
  });

  test("an app that a function makes and lets listen is started in it, without semicolons too", () => {
    const text = [
      "import express from 'express'",
      "async function main() {",
      "  const app = express()",
      "  app.use(express.json())",
      "  await connect()",
      "  app.listen(3000)",
      "}",
      "main()",
      "",
    ].join("\n");
    expect(mounted({ "package.json": MODULE, "server.js": text })).toContain(
      "  await connect()\n  void mailReceiver.start()\n  app.listen(3000)\n",
    );
  });

  test("the place where an app listens is named if it is not clear", () => {
    const { after, next } = ready(serverOf("app.use(express.json());", "if (isMain) app.listen(3000);"));
    const lines = after("server.js")?.split("\n") ?? [];
    const at = lines.findIndex((line) => line.includes(".listen("));
    expect(next).toContain(`It listens in server.js:${at + 1}`);
    const alone = ready({ "package.json": MODULE, "app.js": app("app.use(express.json());") });
    expect(alone.next).toContain("mailReceiver.start() before the app listens");
    expect(alone.next).toContain("import mailReceiver from webhooks/receiver.js first");
  });

  test.each([
    ["src/lib/mail/verify.ts", "export const check = (get) => verify(get('x-svc-signature'));", true],
    ["routes/hooks.js", 'router.post("/in", (req) => verify(req.headers["X-Svc-Signature"]));', true],
    ["server.js", app('app.post("/hooks", (req) => verify(req.get("x-svc-signature")));'), true],
    ["src/stripe.js", 'const mac = createHmac("sha256", key); verify(req.headers["stripe-signature"]);', false],
    ["src/notes.js", "/* The service sends x-svc-signature. */", false],
    ["test/hooks.test.js", 'const header = "x-svc-signature";', false],
    ["node_modules/hooks/index.js", 'const header = "x-svc-signature";', false],
    ["dist/hooks.js", 'const header = "x-svc-signature";', false],
  ])("a file of any folder is named if it reads the signatures of the service: %s", (path, text, isNamed) => {
    const { notice, next } = ready({ ...serverOf("app.listen(3000);"), [path]: text });
    expect(notice?.startsWith(`${path} reads the service's signatures`)).toBe(isNamed ? true : undefined);
    expect(next.includes("point the endpoint at /webhooks/mail")).toBe(isNamed);
  });

  test.each([
    ['app.post("/webhooks/mail", (req, res) => { const mac = createHmac("sha256", key); });', true],
    ["app.use('/webhooks/mail', mail);", true],
    ['app.post("/webhooks/mail/other", mail);', false],
    ['app.get("/webhooks/mail", page);', false],
    ['// app.post("/webhooks/mail", mail);', false],
  ])("a route at the path of the mount is named, before anything is written: %s", (route, isNamed) => {
    const { notice, next } = ready(serverOf(route, "app.listen(3000);"));
    const words = "server.js has a route at /webhooks/mail already";
    expect([notice?.includes(words) ?? false, next.includes(words)]).toEqual([isNamed, isNamed]);
    if (!isNamed) expect(notice).toBeUndefined();
  });

  test("the receiver's file uses the variables that the command reads", () => {
    const text = ready(serverOf("app.listen(3000);")).after("webhooks/receiver.js");
    for (const name of ["WEBHOOK_SECRET", DATABASE_VARIABLE]) expect(text).toContain(`process.env["${name}"]`);
  });

  test("the last step is how to try it", () => {
    const nextOf = (scripts: object) => {
      const manifest = JSON.stringify({ type: "module", scripts });
      return ready({ ...serverOf("app.listen(3000);"), "package.json": manifest })
        .next.split("\n")
        .at(-1);
    };
    expect(nextOf({ start: "node server.js" })).toContain('npx pigeonhole dev --start "npm start" --with-sandbox');
    expect(nextOf({})).toContain("npx pigeonhole dev --forward-to 3000");
  });
});

describe("an app that the command does not understand", () => {
  test.each([
    ["makes two apps", `${app()}const admin = express();\n`],
    ["makes the app inside an expression", 'import express from "express";\nexport default express().use(log);\n'],
    ["does not import express itself", 'import { make } from "./express";\nconst app = make("express");\n'],
    ["has a string that does not end", app("const text = 'never;")],
  ])("a file is left unchanged when it %s", async (_, text) => {
    const folder = makeFiles({ "package.json": MODULE, "app.js": text });
    const { code, stdout } = await runCli(["add", "--yes"], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toContain("app.js was not changed");
    expect(stdout).toContain('app.post("/webhooks/mail", mailReceiver.middleware());');
    expect(readFileSync(join(folder, "app.js"), "utf8")).toBe(text);
  });

  test("a file is left unchanged when another webhooks/receiver is next to it", () => {
    const result = plan({ "package.json": MODULE, "app.js": app(), "webhooks/receiver.js": "export {};\n" });
    expect(result).toMatchObject({ kind: "unclear", app: "app.js" });
    const { paste } = result as Extract<MountPlan, { kind: "unclear" }>;
    expect(paste).toContain("// a new file webhooks/mail-receiver.js beside the app's\n");
    expect(paste).toContain('import { mailReceiver } from "./webhooks/mail-receiver.js";\n');
    expect(paste).not.toContain("webhooks/receiver");
  });

  test("a folder without an app is refused with an explanation", async () => {
    const cwd = makeFiles({ "package.json": '{"dependencies":{"express":"5"}}' });
    const { code, stdout } = await runCli(["add"], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain("no file that makes an Express app was found");
  });

  test("a folder without package.json counts as a mistake in the command line", async () => {
    const { code, stderr } = await runCli(["add"], { cwd: makeFiles({}) });
    expect(code).toBe(2);
    expect(stderr).toContain("package.json cannot be read; name the app's folder.");
  });
});

describe("an app of another framework", () => {
  test.each([
    ["NestJS", "@nestjs/core", 'app.use("/webhooks/mail", mailReceiver.middleware());\n'],
    ["Fastify", "fastify", 'createServer(mailReceiver.listener({ path: "/webhooks/mail", next }))'],
    ["Next.js", "next", "(await openReceiver()).fetch(request);\n"],
    ["node:http", "pg", 'createServer(mailReceiver.listener({ path: "/webhooks/mail", next })).listen(3000);'],
  ])("an app of %s is not changed, and the lines that work there are printed", (name, dependency, lines) => {
    const folder = makeFiles({
      "package.json": JSON.stringify({ type: "module", dependencies: { [dependency]: "1" } }),
      "tsconfig.json": "{}",
      "src/main.ts": name === "NestJS" ? app("app.use(express.json());") : "",
    });
    const result = planMount({ folder, events: ["email.received"] });
    const what =
      name === "node:http" ? "its package.json has no framework that add knows" : `this is an app of ${name}`;
    const reason = `${what}, and add edits Express apps only`;
    expect(result).toMatchObject({ kind: "unclear", reason, paste: expect.stringContaining(lines) });
    const paste = "paste" in result ? result.paste : "";
    expect(paste).not.toMatch(/app\.post|receiver\.js beside|\{\{|<!--/);
    expect(paste.includes("mailReceiver")).toBe(name !== "Next.js");
  });
});

describe("what an app needs on this machine", () => {
  const files = { "package.json": MODULE, "app.js": app("app.listen(3000);") };

  test("a secret goes into .env, which its owner alone can read, and no line of .env into the diff", async () => {
    const folder = makeFiles({ ...files, ".gitignore": "node_modules\n.env" });
    const { stdout } = await runCli(["add", "--yes"], { cwd: folder });
    const secret =
      /^WEBHOOK_SECRET=(whsec_[\w-]{43})\n$/.exec(readFileSync(join(folder, ".env"), "utf8"))?.[1] ?? "none";
    expect([statSync(join(folder, ".env")).mode & 0o777, stdout.includes(secret)]).toEqual([0o600, false]);
    expect(stdout).toContain("+++ b/.env");
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("node_modules\n.env\n.pigeonhole/\npigeonhole.db*\n");
  });

  test("a .env keeps its lines, and its secret if it has one", () => {
    const own = ready({ ...files, ".env": "export WEBHOOK_SECRET=whsec_mine\n" });
    expect(own.after(".env")).toBeUndefined();
    const { after, diff } = ready({ ...files, ".env": "# pass word\nKEY=private" });
    expect(after(".env")).toMatch(/^# pass word\nKEY=private\nWEBHOOK_SECRET=whsec_/);
    expect(diff).not.toMatch(/pass word|KEY|private|whsec_\w{9}/);
  });
});

describe("the app's file", () => {
  test.each([
    ["what the start script runs", { scripts: { start: "node lib/web.mjs" } }, "lib/web.mjs"],
    ["the source of what the start script runs", { scripts: { start: "node dist/web.js" } }, "src/web.ts"],
    ["main", { main: "./web.js" }, "web.js"],
    ["a usual name", {}, "src/server.ts"],
  ])("the app's file is found as %s", (_, fields, path) => {
    const files = { "package.json": JSON.stringify({ type: "module", ...fields }), [path]: app() };
    expect(plan(files)).toMatchObject({ kind: "ready", app: path });
  });

  test("the app's file is read correctly if regular expressions and templates contain quotes", () => {
    const tricky = ['const a = /["\'`/]/.test(b) ? `${c ? `\'` : "}"}` : d / e / f;', "app.use(express.json());"];
    const text = app(...tricky);
    expect(readExpressApp(text)).toMatchObject({ mountAt: text.indexOf("app.use(express.json());") });
  });
});

describe("the mount command", () => {
  const files = { "package.json": MODULE, "app.js": app("app.use(express.json());") };

  test("the command shows the changes and writes nothing until it is told to", async () => {
    const folder = makeFiles(files);
    const { code, stdout, stderr } = await runCli(["add", "-e", "email.bounced"], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain("--yes");
    expect(stdout).toContain("+++ b/app.js");
    expect(stdout).toContain('+app.post("/webhooks/mail", mailReceiver.middleware());');
    expect(stdout).toContain('+mailReceiver.on("email.bounced", (event, ctx) => {');
    expect(readFileSync(join(folder, "app.js"), "utf8")).toBe(files["app.js"]);
  });

  test("the command says that the app is already changed when it is run again", async () => {
    const folder = makeFiles(files);
    expect((await runCli(["add", "--yes"], { cwd: folder })).code).toBe(0);
    const written = readFileSync(join(folder, "app.js"), "utf8");
    const { code, stdout } = await runCli(["add", "--yes"], { cwd: folder });
    expect([code, stdout]).toEqual([0, "app.js has a receiver already; nothing to do.\n"]);
    expect(readFileSync(join(folder, "app.js"), "utf8")).toBe(written);
  });

  test("the command gives the diff and the next steps as JSON", async () => {
    const { stdout } = await runCli(["add", "--yes", "--json"], { cwd: makeFiles(files) });
    const [diff, written] = jsonLines({ stdout });
    expect(diff).toMatchObject({ schemaVersion: 1, kind: "diff", app: "app.js" });
    expect(written).toMatchObject({ kind: "written", files: ["webhooks/receiver.js", ".gitignore", ".env", "app.js"] });
    expect(written?.["next"]).toContain("npm install pigeonhole zod@4");
  });

  test("the command does not overwrite a file that changed meanwhile", async () => {
    const folder = makeFiles(files);
    const planned = planMount({ folder, events: ["email.received"] });
    if (planned.kind !== "ready") throw new Error("Expected a plan.");
    writeFileSync(join(folder, "app.js"), "// mine");
    await expect(writeMount(folder, planned.changes)).rejects.toThrow("has changed meanwhile");
    expect(readFileSync(join(folder, "app.js"), "utf8")).toBe("// mine");
  });
});
