import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { makeFolder } from "../support/folder.js";
import { jsonLines, runCli } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import type { Running } from "../support/start-program.js";

const APP = `node "${fileURLToPath(new URL("receiver-app.mjs", import.meta.url))}"`;
const NAMES = ["PORT", "DEV_PORT", "DEV_PAGE_PORT", "SANDBOX_PORT"] as const;

type Ports = Record<(typeof NAMES)[number], number>;

/** A folder whose `.env` names free ports. */
async function makeProject(): Promise<{ cwd: string; ports: Ports }> {
  const cwd = makeFolder();
  const found = await Promise.all(NAMES.map(async (name) => [name, await findFreePort()] as const));
  writeFileSync(join(cwd, ".env"), found.map(([name, port]) => `${name}=${port}\n`).join(""));
  return { cwd, ports: Object.fromEntries(found) as Ports };
}

/** The command line's dev with the app of receiver-app.mjs, which does not read `.env`. */
async function startAll(args: string[] = [], env: Record<string, string> = {}) {
  const { cwd, ports } = await makeProject();
  const own = { DATABASE_FILE: "inbox.db", ...env };
  const cli = startCli(["dev", "--start", APP, "--path", "/webhooks", ...args], { cwd, env: own });
  return { cli, cwd, ports, env: own };
}

async function fire(port: number, type: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ type });
  const { status } = await fetch(`http://127.0.0.1:${port}/sandbox/emit`, { method: "POST", headers, body });
  expect(status).toBe(200);
}

async function endsBy(cli: Running, signal: "SIGINT" | "SIGTERM") {
  cli.signal(signal);
  return cli.ended;
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );

describe("dev --start --with-sandbox", () => {
  test("an event of the sandbox reaches the app's handler, and its contact event the sandbox, on this machine", async () => {
    const real = { PIGEONHOLE_BASE_URL: "http://127.0.0.1:9/", PIGEONHOLE_API_KEY: "svc_live_of_the_real_workspace" };
    const { cli, ports } = await startAll(["--with-sandbox"], real);
    await cli.line(/^dev {5}│ {3}Ready\.$/);
    expect(cli.lines).toContain("app     │ listening");
    expect(cli.lines.join("\n")).toContain(`dev     │   Sandbox     http://127.0.0.1:${ports.SANDBOX_PORT}`);
    expect(cli.lines.join("\n")).toMatch(/dev {5}│ {3}Inbox {7}\S+inbox\.db/);
    await fire(ports.SANDBOX_PORT, "form.submitted");
    await cli.line(/^dev {5}│ [\d:]{8} {2}form\.submitted +✓ signed +200 accepted/);
    await cli.line(/^sandbox │ [\d:]{8} {2}✓ form\.submitted .* attempt 1 {2}200/);
    // The sandbox knows no such contact; what counts is where the call went.
    await cli.line(/^sandbox │ [\d:]{8} {2}api {6}POST contactEvents\.send/);

    const { code, stdout, stderr } = await endsBy(cli, "SIGTERM");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toMatch(/svc_live_|whsec_/);
    const others = stdout.split("\n").filter((line) => line !== "" && !/^(?:app {4}|dev {4}|sandbox) │ /.test(line));
    expect(others).toEqual([]);
    for (const port of Object.values(ports)) expect(await answers(port)).toBe(false);
  });

  test("the other commands find the sandbox and the app's database while dev runs, without .env", async () => {
    const { cli, cwd } = await startAll(["--with-sandbox"], { DATABASE_FILE: "", APP_FILE: "mirror.db" });
    await cli.line(/Ready\./);
    expect(cli.lines.join("\n")).toMatch(/Inbox {7}\S+mirror\.db/);
    const endpoints = await runCli(["api", "webhooks.list"], { cwd });
    expect([endpoints.code, endpoints.stdout]).toEqual([0, expect.stringContaining("/webhooks")]);
    expect((await runCli(["inbox", "stats"], { cwd })).code).toBe(0);
    expect(statSync(join(cwd, ".pigeonhole/dev.env")).mode & 0o077).toBe(0);
    await endsBy(cli, "SIGTERM");
    expect((await runCli(["api", "webhooks.list"], { cwd })).stderr).toContain("No API");
  });

  test("a handler's failure is printed, and JSON lines name their source", async () => {
    const { cli, ports } = await startAll(["--with-sandbox", "email.*", "--json"]);
    await cli.line(/"kind":"ready"/);
    await fire(ports.SANDBOX_PORT, "email.bounced");
    expect(JSON.parse(await cli.line(/"kind":"handler_failed"/))).toMatchObject({ handler: "bounces", state: "dead" });
    const { code, stdout } = await endsBy(cli, "SIGINT");
    expect(code).toBe(0);
    const kinds = jsonLines({ stdout }).map(({ schemaVersion, kind }) => [schemaVersion, kind]);
    expect(kinds).toContainEqual([1, "app_output"]);
    expect(kinds).toContainEqual([1, "sandbox"]);
  });

  test("ports in use are named all at once, before anything starts", async () => {
    const { cli, cwd, ports, env } = await startAll(["--with-sandbox"]);
    await cli.line(/Ready\./);
    const second = await runCli(["dev", "--start", "echo started > ran", "--with-sandbox"], { cwd, env });
    const { PORT, DEV_PORT, DEV_PAGE_PORT, SANDBOX_PORT } = ports;
    const wanted = `${PORT} (PORT), ${DEV_PORT} (DEV_PORT, --port), ${DEV_PAGE_PORT} (DEV_PAGE_PORT, --page-port), ${SANDBOX_PORT} (SANDBOX_PORT, --sandbox-port)`;
    expect([second.code, second.stdout, second.stderr]).toEqual([2, "", expect.stringContaining(wanted)]);
    expect(existsSync(join(cwd, "ran"))).toBe(false);
    await endsBy(cli, "SIGTERM");
  });
});

describe("the app of dev --start", () => {
  /** A program that serves and does this. */
  async function startScript(script: string) {
    const { cwd, ports } = await makeProject();
    const serve = `import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
createServer((_, res) => res.end()).listen(${ports.PORT});\n`;
    writeFileSync(join(cwd, "app.mjs"), serve + script);
    const cli = startCli(["dev", "--start", "node app.mjs"], { cwd });
    return { cli, cwd, ports };
  }

  test("an app that ends at its start ends dev with its code, and its last lines are printed", async () => {
    const { cwd } = await makeProject();
    const script = "console.error('the database is gone'); process.exit(7)";
    const { code, stdout, stderr } = await runCli(["dev", "--start", `node -e "${script}"`], { cwd });
    expect([code, stdout]).toEqual([7, "app     │ the database is gone\n"]);
    expect(stderr).toMatch(/^dev {5}│ The app has ended: exit code 7\. Its lines above say why; start dev again .*\n$/);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s that comes twice, as from a terminal and from npm, lets the app end in order, by one signal",
    async (signal) => {
      const { cli, cwd } = await startScript(`
let signals = 0;
process.on("SIGTERM", () => {
  signals += 1;
  setTimeout(() => {
    writeFileSync("ended", String(signals));
    process.exit(0);
  }, 400);
});
`);
      await cli.line(/Ready\./);
      cli.signal(signal);
      cli.signal(signal);
      const { code, stderr } = await cli.ended;
      expect([code, stderr]).toEqual([0, ""]);
      expect(readFileSync(join(cwd, "ended"), "utf8")).toBe("1");
    },
  );

  test("a second Ctrl-C ends dev at once, and the app with it", async () => {
    const { cli, cwd, ports } = await startScript('process.on("SIGTERM", () => writeFileSync("asked", ""));');
    await cli.line(/Ready\./);
    cli.signal("SIGINT");
    await expect.poll(() => existsSync(join(cwd, "asked"))).toBe(true);
    await sleep(600);
    cli.signal("SIGINT");
    expect((await cli.ended).code).toBe(130);
    await expect.poll(() => answers(ports.PORT)).toBe(false);
  });

  test("dev waits for an app that does not listen, says so, and ends on Ctrl-C", async () => {
    const { cwd, ports } = await makeProject();
    const cli = startCli(["dev", "--start", "sleep 50"], { cwd });
    expect(await cli.line(/^dev/)).toContain(`Waits for the app at http://127.0.0.1:${ports.PORT} (PORT)`);
    expect(cli.lines.join("\n")).toContain("If its lines above have an error, fix that; dev goes on when it answers.");
    expect(await endsBy(cli, "SIGINT")).toMatchObject({ code: 0, stderr: "" });
  });

  test("the app gets the secret and the environment of development", async () => {
    const { cli, cwd } = await startScript(
      'writeFileSync("env", JSON.stringify([process.env.NODE_ENV, process.env.WEBHOOK_SECRET]));',
    );
    expect(await cli.line(/Secret/)).toContain("made for this run");
    await endsBy(cli, "SIGTERM");
    const [mode, secret] = JSON.parse(readFileSync(join(cwd, "env"), "utf8")) as string[];
    expect([mode, secret]).toEqual(["development", expect.stringMatching(/^whsec_[\w-]{43}$/)]);
    expect(cli.lines.join("\n")).not.toContain(secret);
  });
});

describe("the ports of .env", () => {
  test("a variable that is no port is named, and a flag goes before it", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, ".env"), "DEV_PORT=many\n");
    const { code, stderr } = await runCli(["dev"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("DEV_PORT: It must be a whole number")]);
    const cli = startCli(["dev", "--port", "0", "--no-page"], { cwd });
    await cli.line(/Ready\./);
    await endsBy(cli, "SIGTERM");
  });
});
