import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { startReceiverApp } from "./app.js";
import { serve } from "../support/serve.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import { startDev } from "../dev/dev-harness.js";
import { findFreePort } from "../support/free-port.js";
import { makeFolder } from "../support/folder.js";

const env = { WEBHOOK_SECRET: SECRET };

test("trigger without a secret says how to make one, and the printed command makes one that works", async () => {
  const app = await startReceiverApp();
  const cwd = makeFolder();
  const refused = await runCli(["trigger", "email.sent", "--to", app.url], { cwd });
  expect(refused.code).toBe(2);
  const [, script = ""] = /node -p "([^"]+)"/.exec(refused.stderr) ?? [];
  const secret = execFileSync(process.execPath, ["-p", script], { encoding: "utf8" }).trim();
  expect(secret).toMatch(/^whsec_[\w-]{43}$/);
  const signed = await runCli(["trigger", "email.sent", "--print"], { cwd, env: { WEBHOOK_SECRET: secret } });
  expect(signed).toMatchObject({ code: 0, stderr: "" });
});

describe("trigger", () => {
  test("trigger says that pigeonhole dev is not there, where it would receive", async () => {
    const port = await findFreePort();
    const trigger = (...args: string[]) =>
      runCli(["trigger", "email.sent", ...args], { env: { ...env, DEV_PORT: String(port) } });
    const advice = "! pigeonhole dev receives there once it says Ready: start it, or give the port of the app itself";
    const { code, stdout } = await trigger();
    expect([code, stdout]).toEqual([3, expect.stringContaining(advice)]);
    expect((await trigger("--to", String(await findFreePort()))).stdout).not.toContain("pigeonhole dev");
  });

  test("trigger says what to change when no receiver took the event, and nothing where that is expected", async () => {
    const app = await startReceiverApp();
    const wrong = await serve((_, res) => void res.writeHead(404, { "content-type": "text/html" }).end("<p>None</p>"));
    const to = (url: string, ...flags: string[]) => runCli(["trigger", "email.sent", "--to", url, ...flags], { env });
    const missed = await to(`${wrong.url}/hooks`);
    expect(missed.stdout).toContain("\n  ! The app has no POST route at /hooks: mount the receiver there");
    const secret = `whsec_${"o".repeat(43)}`;
    const other = await to(app.url, "--secret", secret);
    expect(other.stdout).toContain("503 unverified");
    expect(other.stdout).toContain("\n  ! The app has another secret than --secret: give both the same");
    expect(other.stdout).not.toContain(secret);
    expect(missed.code).toBe(1);
    const stale = await to(app.url, "--sign", "stale");
    expect([stale.code, stale.stdout]).toEqual([1, expect.stringMatching(/^✗ [^!]* 503 [^!]*$/)]);
    const expected = await to(`${wrong.url}/hooks`, "--expect", "404");
    expect([expected.code, expected.stdout]).toEqual([0, expect.not.stringContaining("!")]);
  });

  test("trigger through a dev server gives advice about the app behind it, as the dev server does", async () => {
    const app = await serve((_, res) => void res.writeHead(404).end());
    const { dev } = await startDev({ forwards: [{ target: `${app.url}/hooks` }] });
    const { stdout } = await runCli(["trigger", "email.sent", "--to", dev.captureUrl], { env });
    expect(stdout).toContain("The app has no POST route at /hooks: mount");
    expect(stdout).toContain("as in --forward-to 3000/hooks.");
  });

  test.each<[string, number, string, string, boolean]>([
    ["one short line of text", 503, "text/plain; charset=utf-8", "The app did not answer.\n", true],
    ["a page", 502, "text/html", "<p>Bad gateway</p>", false],
    ["a text of several lines", 500, "text/plain", "Error\n    at app", false],
    ["a long text", 500, "text/plain", "x".repeat(161), false],
    ["the text of a success", 200, "text/plain", "ok", false],
  ])("trigger prints what a refusal says in one line: %s", async (_, status, type, text, isShown) => {
    const proxy = await serve((_request, res) => void res.writeHead(status, { "content-type": type }).end(text));
    const { stdout } = await runCli(["trigger", "email.sent", "--to", `${proxy.url}/hooks`], { env });
    expect(/^ {2}It says: (.*)$/m.exec(stdout)?.[1]).toBe(isShown ? text.trim() : undefined);
  });

  test("trigger makes new events in every run, and the same events with --seed", async () => {
    const app = await startReceiverApp();
    const outcomes = async (...args: string[]) =>
      jsonLines(await runCli(["trigger", "email.sent", "--to", app.url, "--json", ...args], { env })).map(
        ({ outcome }) => outcome,
      );
    expect(await outcomes()).toEqual(["accepted"]);
    expect(await outcomes()).toEqual(["accepted"]);
    expect(await outcomes("--seed", "7")).toEqual(["accepted"]);
    expect(await outcomes("--seed", "7")).toEqual(["duplicate"]);
  });

  test("trigger in colour marks the result, and prints control characters of the event as escapes", async () => {
    const app = await startReceiverApp();
    const args = ["trigger", "email.sent", "--to", app.url, "--id", "evt_\u001b[31m"];
    const { stdout } = await runCli(args, { env: { ...env, FORCE_COLOR: "1" } });
    const painted = "\u001b[32m✓\u001b[39m email.sent  evt_\\u001b[31m  200 accepted";
    expect(stdout.slice(0, painted.length)).toBe(painted);
  });

  test("trigger sets and removes fields, and prints the delivery without sending it", async () => {
    const changes = "--set data.subject=Hi --set data.n=3 --unset data.to";
    const args = `trigger email.sent ${changes} --print --json`.split(" ");
    const [line] = jsonLines(await runCli(args, { env }));
    const { data } = JSON.parse(String(line?.["body"])) as { data: Record<string, unknown> };
    expect(data).toMatchObject({ subject: "Hi", n: 3 });
    expect(data).not.toHaveProperty("to");
    expect(line?.["headers"]).toContainEqual(["x-pigeonhole-signed-here", "1"]);
  });

  test("trigger sends the exact bytes of --body", async () => {
    const app = await startReceiverApp();
    const input =
      '{ "id": "evt_by_hand", "type": "email.teleported", "createdAt": "2026-01-01T00:00:00Z", "data": {} }\n';
    const { code } = await runCli(["trigger", "--body", "-", "--to", app.url, "--expect", "200"], { env, input });
    expect(code).toBe(0);
    const stored = await app.receiver.inbox.get("evt_by_hand");
    expect(Buffer.from(stored?.body ?? []).toString()).toBe(input);
  });

  test("trigger ends with 130 on Ctrl-C while it waits for the answer", async () => {
    let isAsked = false;
    const silent = await serve(() => (isAsked = true));
    const cli = startCli(["trigger", "email.sent", "--to", `${silent.url}/hooks`], { env });
    await expect.poll(() => isAsked).toBe(true);
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ code: 130, stdout: "", stderr: "" });
  });

  test("trigger sends nothing if a text is clearly not a secret, and does not show the text", async () => {
    const app = await startReceiverApp();
    const args = ["trigger", "email.sent", "--to", app.url, "--secret", `"${SECRET}"`];
    const { code, stdout, stderr } = await runCli(args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("--secret has quotes")]);
    expect(stderr).not.toContain(SECRET);
    expect((await app.receiver.stats()).answers.unverified).toBe(0);
  });

  test("trigger warns of a secret that may be cut, and sends the event", async () => {
    const app = await startReceiverApp();
    const cut = SECRET.slice(0, -5);
    const { code, stdout, stderr } = await runCli(["trigger", "email.sent", "--to", app.url, "--secret", cut]);
    expect([code, stdout, stderr]).toEqual([
      1,
      expect.stringContaining("503 unverified"),
      expect.stringContaining("--secret has 38 characters after whsec_, where the service makes 43."),
    ]);
    expect(stderr).not.toContain(cut);
  });
});
