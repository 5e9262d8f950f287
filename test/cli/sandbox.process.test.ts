import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startReceiverApp } from "./app.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import type { Running } from "../support/start-program.js";
import { makeFolder } from "../support/folder.js";

const env = { WEBHOOK_SECRET: SECRET };

interface Ready {
  cli: Running;
  baseUrl: string;
  apiKey: string;
}

async function startSandbox(args: string[] = [], environment: Record<string, string> = env): Promise<Ready> {
  const cli = startCli(["sandbox", "--port", "0", "--json", ...args], { env: environment });
  const { baseUrl, apiKey } = JSON.parse(await cli.line(/"kind":"ready"/)) as { baseUrl: string; apiKey: string };
  await cli.line(/"kind":"listening"/);
  return { cli, baseUrl, apiKey };
}

function post(url: string, body: object = {}): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

describe("sandbox", () => {
  test("sandbox delivers to a real receiver with the app's secret, and ends cleanly on Ctrl-C", async () => {
    const app = await startReceiverApp();
    const byName = app.url.replace("127.0.0.1", "localhost");
    const { cli, baseUrl } = await startSandbox(["--endpoint", `${byName}=email.*`]);
    expect((await post(`${baseUrl}/sandbox/emit`, { type: "email.received" })).ok).toBe(true);
    const line = JSON.parse(await cli.line(/"kind":"attempt"/)) as object;
    expect(line).toMatchObject({ schemaVersion: 1, row: { status: "delivered", responseCode: 200, attempt: 1 } });
    await expect.poll(() => app.handled).toHaveLength(1);
    cli.signal("SIGINT");
    const { code, stdout, stderr } = await cli.ended;
    expect([code, stderr]).toEqual([130, ""]);
    expect(stdout).not.toContain(SECRET);
  });

  test("sandbox with the manual clock retries only on request, and its live log says when, and why no endpoint receives an event", async () => {
    const cli = startCli(["sandbox", "--port", "0", "--clock", "manual", "--endpoint", "http://127.0.0.1:9/"]);
    const url = /http:\S+/.exec(await cli.line(/API {9}/))?.[0] ?? "";
    expect(await cli.line(/Secret/)).toMatch(/whsec_[\w-]{43}$/);
    await post(`${url}/sandbox/emit`, { type: "email.sent" });
    expect(await cli.line(/attempt 1/)).toMatch(/✗ email\.sent .* again in \d+ (s|min)$/);
    expect((await post(`${url}/sandbox/advance-to-next`)).ok).toBe(true);
    await cli.line(/attempt 2/);
    await post(`${url}/sandbox/emit`, { type: "form.submitted" });
    const lost = "no endpoint receives form.submitted; --endpoint <url>=all receives every type";
    expect(await cli.line(/event {4}form\.submitted/)).toContain(lost);
    expect(cli.lines.some((line) => line.includes("attempt 3"))).toBe(false);
    cli.signal("SIGINT");
    expect((await cli.ended).code).toBe(130);
  });

  test("sandbox --options takes what createSandbox takes, and another option beside it replaces its value", async () => {
    const token = `svc_live_${"0123456789abcdef".repeat(3)}`;
    const file = join(makeFolder(), "options.json");
    const contacts = [{ email: "lin@customer.example.com", name: "Lin" }];
    writeFileSync(file, JSON.stringify({ seed: "file", clock: "manual", apiKeys: [{ token }], contacts }));
    const cli = startCli(["sandbox", "--port", "0", "--json", "--seed", "flag", "--options", file]);
    const line = await cli.line(/"kind":"ready"/);
    expect(JSON.parse(line)).toMatchObject({ seed: "flag" });
    const { baseUrl } = JSON.parse(line) as { baseUrl: string };
    const listed = await fetch(`${baseUrl}/contacts`, { headers: { authorization: `Bearer ${token}` } });
    expect(await listed.json()).toMatchObject({ data: contacts });
    expect((await post(`${baseUrl}/sandbox/advance`, { by: "1h" })).ok).toBe(true);
    cli.signal("SIGINT");
    const { stdout, stderr } = await cli.ended;
    expect(stdout + stderr).not.toContain(token);
  });

  test("sandbox refuses endpoints outside this machine that the API creates, unless an option allows them", async () => {
    const attempt = async (...flags: string[]): Promise<string> => {
      const { cli, baseUrl, apiKey } = await startSandbox(flags);
      const at = { env: { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: apiKey } };
      await runCli(
        ["api", "webhooks.create", "--body", '{"url":"https://192.0.2.1/","eventTypes":["email.sent"]}'],
        at,
      );
      await post(`${baseUrl}/sandbox/emit`, { type: "email.sent" });
      return cli.line(/"kind":"attempt"/);
    };
    const refused = JSON.parse(await attempt()) as object;
    expect(refused).toMatchObject({
      row: { error: expect.stringContaining("not sent: outside this machine") as string },
    });
    // TEST-NET-1: no server answers there, so only the reason differs.
    expect(await attempt("--allow-remote")).not.toContain("not sent");
  });
});

describe("dev --register, with the API of the sandbox", () => {
  test("dev --register has an endpoint while it runs, and does not show its secret", async () => {
    const real = `svc_live_${"0123456789abcdef".repeat(3)}`;
    const { baseUrl, apiKey } = await startSandbox([], { ...env, PIGEONHOLE_API_KEY: real });
    // Of a workspace of its own, not of the one that the environment names.
    expect([apiKey.slice(0, 9), apiKey === real]).toEqual(["svc_live_", false]);
    const at = { env: { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: apiKey } };
    const list = async () => jsonLines(await runCli(["api", "webhooks.list", "--all", "--json"], at));
    const flags = ["--register", "--public-url", "https://hooks.example.com"];
    const cli = startCli(["dev", "--port", "0", "--no-page", ...flags], at);
    await cli.line(/Ready/);
    expect(await list()).toMatchObject([{ item: { url: "https://hooks.example.com/webhooks/mail" } }]);
    cli.signal("SIGINT");
    const { code, stdout, stderr } = await cli.ended;
    expect(code).toBe(130);
    expect(await list()).toEqual([]);
    for (const secret of ["whsec_", apiKey]) expect(stdout + stderr).not.toContain(secret);
  });
});
