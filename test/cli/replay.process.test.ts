import { sampleEvent } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { startDev } from "../dev/dev-harness.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { type App, startReceiverApp } from "./app.js";
import { importEvents } from "./import-events.js";

const env = { WEBHOOK_SECRET: SECRET };

async function startDevFor(app: App): Promise<{ cwd: string; url: string }> {
  const secrets = [{ ref: "env:WEBHOOK_SECRET", value: SECRET }];
  const { dev, folder } = await startDev({ forwards: [{ target: app.url }], secrets });
  return { cwd: folder, url: dev.captureUrl };
}

function trigger(url: string, ...args: string[]) {
  return runCli(["trigger", "email.received", "--to", url, ...args], { env });
}

describe("captures and replay, beside a running dev server", () => {
  test("captures list, show and verify and replay work on what a running dev server captured", async () => {
    const app = await startReceiverApp();
    const { cwd, url } = await startDevFor(app);
    await trigger(url);
    await trigger(url, "--sign", "stale");
    const at = { cwd, env };

    const listed = jsonLines(await runCli(["captures", "list", "--json"], at));
    expect(listed).toMatchObject([
      { schemaVersion: 1, capture: { verdict: "stale", status: 503 } },
      { schemaVersion: 1, capture: { verdict: "ok", status: 200 } },
    ]);
    expect(jsonLines(await runCli(["captures", "list", "verdict:ok", "--json"], at))).toHaveLength(1);

    const body = await runCli(["captures", "show", "last", "--body"], at);
    expect(JSON.parse(body.stdout)).toMatchObject({ type: "email.received" });
    expect((await runCli(["captures", "show", "last"], at)).stdout).toContain("✗ stale");

    // The stale one, signed again, is accepted; a second time it is a duplicate; with a new id it runs again.
    const replay = async (...args: string[]) => {
      const result = await runCli(["replay", "last", "--json", ...args], at);
      const headers = jsonLines(result).map(({ attempt }) => (attempt as { headers: [string, string][] }).headers);
      return [result.code, headers.flat().find(([name]) => name === "x-pigeonhole-outcome")?.[1]];
    };
    expect(await replay()).toEqual([0, "accepted"]);
    expect(await replay()).toEqual([0, "duplicate"]);
    expect(await replay("--new-id")).toEqual([0, "accepted"]);
    expect(await replay("--exact")).toEqual([1, "unverified"]);
    await expect.poll(() => app.handled.length).toBe(3);
  });

  test("replay compares with the previous attempt, and ends with 3 if no server listens", async () => {
    const app = await startReceiverApp();
    const { cwd, url } = await startDevFor(app);
    await trigger(url);
    const at = { cwd, env };
    const gone = await runCli(["replay", "last", "--to", "9/"], at);
    expect([gone.code, gone.stdout]).toEqual([3, expect.stringContaining("Nothing listens")]);
    const back = await runCli(["replay", "last", "--to", app.url, "--json"], at);
    expect(back.code).toBe(0);
    expect((await runCli(["captures", "show", "last"], at)).stdout).toMatch(
      /attempt 3 .*200 duplicate.*replay, resign/,
    );
  });

  test("replay says of a duplicate that nothing ran, and how it runs again or is retried", async () => {
    const app = await startReceiverApp();
    const cwd = await importEvents(sampleEvent("email.bounced", {}, { id: "evt_away" }));
    const replay = (...args: string[]) => runCli(["replay", "last", "--to", app.url, ...args], { cwd, env });
    expect((await replay()).stdout).toMatch(/^✓ email\.bounced {2}evt_away .* 200 accepted /);
    await expect.poll(async () => (await app.receiver.inbox.get("evt_away"))?.state).toBe("dead");

    const again = await replay();
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^! email\.bounced .* 200 duplicate /)]);
    expect(again.stdout).toContain("Not run: the receiver has this id. --new-id runs it again under a new id.");
    expect(again.stdout).toContain("Different from the time before: outcome accepted → duplicate.");
    expect(again.stdout).not.toContain("inbox retry");

    const advice = [
      "Handler bounces is dead: attempts_spent: Error: the mail server is away",
      `To retry it: npx pigeonhole inbox retry evt_away --db ${app.file}`,
    ].join("\n  ");
    expect((await replay("--inbox", app.file)).stdout).toContain(advice);
    const known = await runCli(["replay", "last", "--to", app.url], { cwd, env: { ...env, DATABASE_FILE: app.file } });
    expect(known.stdout).toContain(advice);

    app.fix();
    expect((await replay("--new-id")).stdout).toMatch(/^✓ .* 200 accepted /);
    expect((await replay("-n", "2")).stderr).toMatch(
      /^How [^\n]+\n2 of 2 answered, 2 not run, since the receiver has them, 1 different from the time before\.\n$/,
    );
  });
});
