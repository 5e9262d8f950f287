import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startReceiverApp } from "./app.js";

/** The service's API on a port, with an endpoint of this URL. */
async function startApi(url?: string, secret = SECRET): Promise<{ baseUrl: string; apiKey: string }> {
  const sandbox = createSandbox({ receiverTime: "machine" });
  onTestFinished(() => sandbox.close());
  if (url !== undefined) sandbox.endpoints.create({ url }, { secret });
  const { url: baseUrl } = await sandbox.listen({ port: 0 });
  return { baseUrl, apiKey: sandbox.apiKey };
}

/** The endpoint of a line of `endpoints list --json`. */
function idOf(line: Record<string, unknown> = {}): string {
  return (line["endpoint"] as { id: string }).id;
}

describe("endpoints, with the API of the sandbox", () => {
  test("endpoints creates, lists, updates, tests, rotates and deletes an endpoint", async () => {
    const app = await startReceiverApp();
    const { baseUrl, apiKey } = await startApi(app.url);
    const cwd = makeFolder();
    const at = { cwd, env: { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: apiKey } };
    const run = (...args: string[]) => runCli(["endpoints", ...args], at);

    const created = await run(
      "create",
      "https://app.example.com/hooks",
      "-e",
      "email.sent",
      "--write-secret",
      "secret",
    );
    expect(created).toMatchObject({ code: 0, stderr: "Created.\n" });
    const id = /whe_\w{24}/.exec(created.stdout)?.[0] ?? "";
    const file = join(cwd, "secret");
    const first = readFileSync(file, "utf8");
    expect(first).toMatch(/^whsec_[\w-]{43}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(created.stdout).not.toContain("whsec_");

    const listed = jsonLines(await run("list", "--json"));
    expect(listed).toMatchObject([{ endpoint: { id, eventTypes: ["email.sent"] } }, { endpoint: { url: app.url } }]);
    expect(JSON.stringify(listed)).not.toContain("whsec_");
    const own = idOf(listed[1]);
    expect(await run("test", own)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✓ delivered {2}200/) as string,
    });
    expect(jsonLines(await run("deliveries", own, "--json"))).toMatchObject([{ delivery: { status: "delivered" } }]);

    expect((await run("update", id, "--disable", "--description", "Off")).stdout).toContain("state        off");
    expect(await run("rotate-secret", id, "--write-secret", "secret")).toMatchObject({ code: 2 });
    expect(await run("rotate-secret", id, "--write-secret", "secret", "--yes")).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).not.toBe(first);
    expect(await run("delete", id, "--yes")).toMatchObject({ code: 0, stdout: `Deleted ${id}.\n` });
    expect(jsonLines(await run("list", "--json"))).toHaveLength(1);
  });

  test("endpoints test ends with 1 if the test fails, and with 3 on an error answer and without an answer", async () => {
    const { baseUrl, apiKey } = await startApi("http://127.0.0.1:9/");
    const flags = ["--base-url", baseUrl, "--api-key", "env:KEY"];
    const [line] = jsonLines(await runCli(["endpoints", "list", "--json", ...flags], { env: { KEY: apiKey } }));
    const id = idOf(line);
    const failed = await runCli(["endpoints", "test", id, ...flags], { env: { KEY: apiKey } });
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringContaining("\n  → The service did not reach the app."),
    ]);
    const refused = await runCli(["endpoints", "list", ...flags], { env: { KEY: "svc_live_wrong" } });
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("HTTP 401")]);
    expect(refused.stderr).not.toContain("svc_live_wrong");
    const gone = await runCli(["endpoints", "list", "--base-url", "http://127.0.0.1:9", "--api-key", apiKey]);
    expect(gone.code).toBe(3);
  });

  test("endpoints test explains the cause that a failed answer points to", async () => {
    const app = await startReceiverApp();
    const { baseUrl, apiKey } = await startApi(app.url, `whsec_${"x".repeat(43)}`);
    const at = { env: { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: apiKey } };
    const id = idOf(jsonLines(await runCli(["endpoints", "list", "--json"], at))[0]);
    const { code, stdout } = await runCli(["endpoints", "test", id], at);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/✗ failed {2}503 .*\n {2}→ .* another secret/)]);
    const [line] = jsonLines(await runCli(["endpoints", "test", id, "--json"], at));
    expect(line).toMatchObject({
      delivery: { responseCode: 503 },
      hint: expect.stringContaining("rotation") as string,
    });
  });

  test("endpoints does not send what the contract refuses, and the error names the option", async () => {
    const flags = ["--base-url", "http://127.0.0.1:9", "--api-key", "k"];
    const run = (...args: string[]) => runCli(["endpoints", ...args, ...flags]);
    const id = "whe_65b8f0a2c4d6e8f001234567";
    expect((await run("create", "ftp://localhost/")).stderr).toContain("the URL cannot be used; nothing was sent");
    expect((await run("update", id, "--event", "email.*")).stderr).toContain("--event cannot be used");
    expect((await run("update", "42", "--enable")).stderr).toContain("the argument <id> cannot be used");
    expect((await run("update", id)).stderr).toContain("Nothing to change");
    expect((await run("update", id, "--enable", "--disable")).stderr).toContain("cannot be used together");
  });

  test("endpoints refuses a secret file that cannot be written before it changes anything", async () => {
    const { baseUrl, apiKey } = await startApi();
    const cwd = makeFolder();
    writeFileSync(join(cwd, "file"), "");
    const flags = ["--base-url", baseUrl, "--api-key", apiKey];
    const create = ["endpoints", "create", "https://app.example.com/", "--write-secret", "file/secret", ...flags];
    expect(await runCli(create, { cwd })).toMatchObject({ code: 2 });
    expect(jsonLines(await runCli(["endpoints", "list", "--json", ...flags]))).toEqual([]);
  });

  test("endpoints does not write a secret over that of another endpoint, nor into a folder", async () => {
    const { baseUrl, apiKey } = await startApi();
    const cwd = makeFolder();
    const flags = ["--base-url", baseUrl, "--api-key", apiKey, "--write-secret"];
    const create = (file: string) =>
      runCli(["endpoints", "create", "https://app.example.com/", ...flags, file], { cwd });
    writeFileSync(join(cwd, "empty"), "");
    expect(await create("empty")).toMatchObject({ code: 0 });
    const secret = readFileSync(join(cwd, "empty"), "utf8");
    expect(secret).toMatch(/^whsec_/);
    expect(await create("empty")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("empty exists already") as string,
    });
    expect(readFileSync(join(cwd, "empty"), "utf8")).toBe(secret);
    expect(await create(".")).toMatchObject({ code: 2, stderr: expect.stringContaining(". is a folder") as string });
    const listed = await runCli(["endpoints", "list", "--json", "--base-url", baseUrl, "--api-key", apiKey]);
    expect(jsonLines(listed)).toHaveLength(1);
  });
});
