import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEnv } from "node:util";
import { signDelivery } from "pigeonhole/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TEMPLATE_NAMES } from "#pigeonhole/scaffold/project/templates.js";
import { findFreePort } from "../support/free-port.js";
import { type PostgresServer, createDatabase } from "../support/postgres-server.js";
import { buildImage } from "./build-image.js";
import { type Ended, type Running, runToEnd, startProgram } from "../support/start-program.js";
import { ROOT } from "./scratch.js";

/*
 * Every template as a user gets it: made by the command of the packed package, installed by npm, checked, tested,
 * built, started. One thing is not as on a user's machine: each project begins with a copy of what was installed for
 * the command, into which npm installs what else its package.json asks for.
 */

const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];

/** The long form has all of them, or the one that is named; the first is the default of `init`. */
const { TEMPLATES: CHOSEN = TEMPLATE_NAMES[0] } = process.env;
const TEMPLATES = TEMPLATE_NAMES.filter((name) => CHOSEN === "all" || CHOSEN === name);

const folder = mkdtempSync(join(tmpdir(), "pigeonhole-packed-"));
const tool = join(folder, "tool");
let tarball = "";

const run = (command: string, args: readonly string[], cwd = folder, env = {}): Promise<Ended> =>
  runToEnd({ command, args, cwd, env });

/** Makes a project with the packed package, and returns its folder. */
async function init(name: string, template: string): Promise<string> {
  const flags = ["--template", template, "--events", "email.received,form.submitted", "--no-install", "--yes"];
  const pigeonhole = join(tool, "node_modules/.bin/pigeonhole");
  await run(pigeonhole, ["init", name, ...flags]);
  return join(folder, name);
}

beforeAll(async () => {
  // Not its own build: other tests read dist at the same time.
  await run("npm", ["pack", ROOT, "--ignore-scripts", "--pack-destination", folder, "--loglevel=error"]);
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  await run("npm", [...INSTALL, "--prefix", tool, tarball]);
  // As of a monorepo that a project is made in.
  writeFileSync(join(folder, "vitest.config.ts"), 'export default { test: { include: ["packages/**/*.spec.ts"] } };\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** A project on PostgreSQL gets a database of its own, in its `.env`. */
async function startServerOf(project: string): Promise<PostgresServer | undefined> {
  const file = join(project, ".env");
  const text = readFileSync(file, "utf8");
  if (!text.includes("DATABASE_URL=")) return undefined;
  const server = await createDatabase();
  writeFileSync(file, text.replace(/^DATABASE_URL=.*$/m, `DATABASE_URL=${server.url}`));
  return server;
}

describe.each(TEMPLATES)("the template %s", (template) => {
  const project = join(folder, template);
  let server: PostgresServer | undefined;

  beforeAll(async () => {
    await init(template, template);
    server = await startServerOf(project);
    cpSync(join(tool, "node_modules"), join(project, "node_modules"), { recursive: true, verbatimSymlinks: true });
    await run("npm", INSTALL, project);
    await run("npm", ["run", "build"], project);
  });
  afterAll(() => server?.stop());

  test("a template starts, takes a delivery, and ends with 0 at SIGTERM", async () => {
    const port = await findFreePort();
    const app = start(project, ["--enable-source-maps", "dist/server.js"], { PORT: String(port) });
    await untilAnswered(`http://127.0.0.1:${port}/readyz`);

    const answer = await postSample(project, `http://127.0.0.1:${port}/webhooks/mail`);
    expect([answer.status, answer.headers.get("x-pigeonhole-outcome")]).toEqual([200, "accepted"]);

    app.child.kill("SIGTERM");
    expect((await app.ended).code).toBe(0);
    expect(app.output()).toContain('"msg":"stopped"');
  });

  /** Runs the last step of the project's CI, at a port of its own. */
  async function runCi(): Promise<Ended> {
    const workflow = readFileSync(join(project, ".github/workflows/ci.yml"), "utf8");
    const command = /- run: '(.* pigeonhole test .*)'\s*$/.exec(workflow)?.[1] ?? "false";
    const port = String(await findFreePort());
    const args = ["-c", `${command} --to ${port}`];
    return startProgram({ command: "sh", args, cwd: project, env: { PORT: port } }).ended;
  }

  test("the CI of a template is green, turns red when a handler throws, and writes nothing into the developer's inbox", async () => {
    const inbox = join(project, "data");
    rmSync(inbox, { recursive: true, force: true });
    const green = await runCi();
    expect([green.code, green.stdout.match(/^✓/gm)]).toEqual([0, ["✓", "✓"]]);

    const handler = join(project, "dist/webhooks/handlers/form-submitted.js");
    const text = readFileSync(handler, "utf8");
    writeFileSync(
      handler,
      text.replace(/(function onFormSubmitted\(.*\) \{)/, '$1\n  throw new Error("no such form");'),
    );
    onTestFinished(() => writeFileSync(handler, text));
    const red = await runCi();
    expect([red.code, red.stdout]).toEqual([1, expect.stringMatching(/^✗ form\.submitted .*\n.*no such form$/m)]);
    expect(existsSync(inbox)).toBe(false);
  });

  test("a template type-checks and passes its own tests, also with schemas that are made of its fixtures", async () => {
    const bin = join(project, "node_modules/.bin/pigeonhole");
    await run(
      bin,
      ["captures", "types", "fixtures/webhooks", "--samples", "--out", "src/webhooks/schemas.ts"],
      project,
    );
    await run("npm", ["run", "typecheck"], project);
    const { stdout } = await run("npm", ["test"], project);
    expect(stdout).toMatch(/Tests .* passed/);
    expect(stdout).not.toMatch(/failed|skipped/);
  });

  test("a template says which variable is missing", async () => {
    const { code, stderr } = await start(project, ["dist/server.js"], { WEBHOOK_SECRET: "private", PORT: "many" })
      .ended;
    expect(code).toBe(1);
    expect(stderr).toContain("WEBHOOK_SECRET must be the whole secret");
    expect(stderr).toContain("PORT must be a port");
    expect(stderr).not.toContain("private");
  });
});

test("npm run dev starts app, dev server and sandbox once, npm run trigger finds them, and one signal ends all of them", async () => {
  const project = join(folder, "express");
  const handler = join(project, "src/webhooks/handlers/form-submitted.ts");
  const record =
    'ctx.contactEvents.record({ name: "form.filled", email: "ada@customer.example.com" });\n  ctx.log.info(';
  writeFileSync(handler, readFileSync(handler, "utf8").replace("ctx.log.info(", record));
  // Of the real workspace, which must receive nothing that is tried here.
  const real = "PIGEONHOLE_BASE_URL=http://127.0.0.1:9/\nPIGEONHOLE_API_KEY=svc_live_of_the_real_workspace\n";
  appendFileSync(join(project, ".env"), real);
  const [app, dev, page, sandbox] = await Promise.all([findFreePort(), findFreePort(), findFreePort(), findFreePort()]);
  const ports = { PORT: app, DEV_PORT: dev, DEV_PAGE_PORT: page, SANDBOX_PORT: sandbox };
  const env = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
  const all = startDev(project, env);
  await expect.poll(() => all.output()).toContain("dev     │   Ready.");

  const fired = await fetch(`http://127.0.0.1:${sandbox}/sandbox/emit`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "form.submitted" }),
  });
  expect(fired.status).toBe(200);
  // From the sandbox through the dev server into the app's handler.
  await expect.poll(() => all.output()).toMatch(/app {5}│ [\d:]{8} {2}info {3}form\.submitted {2}/);

  // And from the handler back into the sandbox, without a word in .env.
  await expect.poll(() => all.output()).toMatch(/sandbox │ .*contact {2}form\.filled/);
  expect(all.output()).not.toContain("svc_live_");

  const triggered = await run("npm", ["run", "trigger", "--", "form.submitted", "--expect", "2xx"], project, env);
  expect(triggered.stdout).toContain("200 accepted");

  // Changed code runs without a new start of the others, also of an editor that replaces the file, and again.
  for (const [index, level] of ["warn", "error"].entries()) {
    writeFileSync(`${handler}.new`, readFileSync(handler, "utf8").replace(/ctx\.log\.\w+\(/, `ctx.log.${level}(`));
    renameSync(`${handler}.new`, handler);
    const starts = () => all.output().match(/app {5}│ .*listening/g)?.length;
    await expect.poll(starts).toBe(index + 2);
  }

  all.child.kill("SIGINT");
  expect((await all.ended).code).toBe(0);
  // In order, at each change as at the end.
  expect(all.output().match(/app {5}│ .* stopped$/gm)).toHaveLength(3);
  for (const port of Object.values(ports))
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow("fetch failed");
});

// Part of the long form, which has all templates.
if (process.env["TEMPLATES"] === "all") {
  test("the Dockerfile of a project from a tarball makes an image that takes a delivery and is healthy, and has no secret", async () => {
    const context = await init("image", "hono");
    await run("npm", [...INSTALL, "--package-lock-only"], context);
    dropUnservedPlatforms(join(context, "package-lock.json"));
    const stages = join(folder, "stages");
    const { root, cwd, env, command, healthcheck } = await buildImage(context, stages);
    expect(existsSync(join(stages, "build/app/src"))).toBe(true);
    for (const name of [".env", ".git"]) expect(existsSync(join(stages, "build/app", name))).toBe(false);
    expect(readdirSync(root).toSorted()).toEqual(["app", "data"]);
    expect(readdirSync(cwd).toSorted()).toEqual(["dist", "node_modules", "package.json"]);
    expect(existsSync(join(cwd, "node_modules/typescript"))).toBe(false);

    const port = String(await findFreePort());
    const secret = parseEnv(readFileSync(join(context, ".env"), "utf8"))["WEBHOOK_SECRET"] ?? "";
    const started = { ...env, PORT: port, WEBHOOK_SECRET: secret };
    expect(command[0]).toBe("node");
    const app = start(cwd, command.slice(1), started);
    await untilAnswered(`http://127.0.0.1:${port}/readyz`);
    await run(process.execPath, healthcheck.slice(1), cwd, started);
    expect((await postSample(context, `http://127.0.0.1:${port}/webhooks/mail`)).status).toBe(200);
    app.child.kill("SIGTERM");
    expect((await app.ended).code).toBe(0);
    expect(readdirSync(join(root, "data"))).toContain("inbox.db");
    await expect(run(process.execPath, healthcheck.slice(1), cwd, started)).rejects.toThrow("ended with 1");
  });
}

/**
 * Some registries serve no packages of other platforms. Those are missing in the lock file then, and `npm ci` refuses
 * it.
 */
function dropUnservedPlatforms(file: string): void {
  const lock = JSON.parse(readFileSync(file, "utf8")) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  for (const { optionalDependencies: optional = {} } of Object.values(lock.packages)) {
    for (const name of Object.keys(optional)) if (!(`node_modules/${name}` in lock.packages)) delete optional[name];
  }
  writeFileSync(file, JSON.stringify(lock));
}

/** The project's script `dev`, without the shell of npm, which passes no signal on. */
function startDev(project: string, env: Record<string, string>): Running {
  const { scripts } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const [, command = "", rest = ""] = /^pigeonhole dev --start "(.*)" (.*)$/.exec(scripts["dev"] ?? "") ?? [];
  const bin = join(project, "node_modules/pigeonhole/dist/cli/bin.js");
  return start(project, [bin, "dev", "--start", command, ...rest.split(" ")], env);
}

function start(project: string, args: readonly string[], env: Record<string, string>): Running {
  const running = startProgram({ command: process.execPath, args, cwd: project, env });
  onTestFinished(async () => {
    // A test that failed half-way: only the program itself can end what it has started.
    running.child.kill("SIGTERM");
    await Promise.race([running.ended, sleep(5_000, undefined, { ref: false })]);
    running.child.kill("SIGKILL");
  });
  return running;
}

async function untilAnswered(url: string): Promise<void> {
  const isReady = (): Promise<boolean> =>
    fetch(url)
      .then(({ ok }) => ok)
      .catch(() => false);
  await expect.poll(isReady).toBe(true);
}

/** Posts the project's fixture, signed with the secret that was put in its `.env`. */
function postSample(project: string, url: string): Promise<Response> {
  const secret = parseEnv(readFileSync(join(project, ".env"), "utf8"))["WEBHOOK_SECRET"] ?? "";
  const capture = JSON.parse(readFileSync(join(project, "fixtures/webhooks/form-submitted.json"), "utf8")) as {
    request: { body: { data: string } };
  };
  const body = capture.request.body.data;
  return fetch(url, { method: "POST", headers: signDelivery({ body, secret }), body });
}
