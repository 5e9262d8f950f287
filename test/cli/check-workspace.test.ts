import { createClient } from "pigeonhole/client";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";
import { type SandboxOptions, createSandbox } from "pigeonhole/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkWorkspace } from "#pigeonhole/cli/doctor/check-workspace.js";
import { SCOPES } from "#pigeonhole/contract/scopes.js";
import type { CheckResult } from "#pigeonhole/cli/frame/check-result.js";

const HOUR = 3_600_000;
const TOKEN = "svc_live_65b8f0a2c4d6e8f001234567secret";

function openService({ token = TOKEN, ...options }: SandboxOptions & { token?: string } = {}) {
  const answers: number[] = [];
  const sandbox = createSandbox({
    clock: createManualClock(Date.now()),
    seed: "doctor",
    apiKeys: [{ token: TOKEN, scopes: SCOPES }],
    receive: () => new Response(null, { status: answers.shift() ?? 200 }),
    ...options,
  });
  onTestFinished(() => sandbox.close());
  const clientOf = (apiKey: string) => createClient({ ...sandbox.clientOptions, apiKey, maxRetries: 0 });
  const look = async (signal = new AbortController().signal, apiKey = token): Promise<CheckResult[]> => {
    const results: CheckResult[] = [];
    for await (const result of checkWorkspace({ client: clientOf(apiKey), apiKey, signal })) results.push(result);
    return results;
  };
  const findAll = async (name: string, apiKey?: string) =>
    (await look(undefined, apiKey)).filter((result) => result.name === name);
  /** Deliveries that are answered in this way. */
  const deliver = async (...statuses: number[]) => {
    for (const status of statuses) {
      answers.push(status);
      sandbox.emit("email.bounced");
      await sandbox.settle();
    }
  };
  return { sandbox, look, findAll, deliver };
}

const textOf = ({ status, message, fix }: CheckResult) => `${status} ${message} ${fix ?? ""}`;

describe("doctor with an API key", () => {
  test("a workspace in order passes", async () => {
    const { sandbox, look, deliver } = openService();
    sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    await deliver(200);
    const results = await look();
    expect(results.map(({ name, status, fix }) => [name, status, fix])).toEqual([
      ["key", "pass", null],
      ["endpoint", "pass", null],
    ]);
  });

  test.each([
    [["keys:read", "webhooks:read", "webhooks:write"], "contacts:write (contact events are not sent)"],
    [
      ["keys:read"],
      "contacts:write (contact events are not sent), webhooks:read (endpoints cannot be looked at), webhooks:write (endpoints repair replays nothing)",
    ],
  ])("a key with %j alone is too narrow, and what it lacks is named", async (scopes, lacks) => {
    const { findAll } = openService({ apiKeys: [{ token: TOKEN, scopes }] });
    const [key] = await findAll("key");
    expect(key).toMatchObject({ status: "warn", message: `The API key lacks ${lacks}.` });
    expect(key?.fix).toBe("Add the scopes that the app needs to the key.");
  });

  test.each([
    [15, undefined],
    [13.5, "in 13 days"],
    [1.5, "in 1 day"],
    [0.5, "within a day"],
  ])("a key that expires in %d days is named in time: %s", async (days, expected) => {
    const { sandbox, findAll } = openService();
    const token = sandbox.callers.key({ scopes: SCOPES, expiresInMinutes: days * 24 * 60 });
    const [key] = await findAll("key", token);
    if (expected === undefined) expect(key?.status).toBe("pass");
    else expect(key).toMatchObject({ status: "warn", message: expect.stringContaining(` ${expected} (`) as string });
  });

  test("a key of another shape is not looked at", async () => {
    const { findAll } = openService({ token: "another", apiKeys: [{ token: "another", scopes: SCOPES }] });
    expect(await findAll("key")).toMatchObject([{ status: "skip" }]);
  });

  test("an endpoint that is off is named with who switched it off, and why", async () => {
    const { sandbox, findAll, deliver } = openService();
    const gone = sandbox.endpoints.create({ url: "http://127.0.0.1/gone" });
    await deliver(410);
    const off = sandbox.endpoints.create({ url: "http://127.0.0.1/off" });
    sandbox.endpoints.update(off.id, { enabled: false });
    const texts = (await findAll("endpoint")).map(textOf);
    expect(texts[0]).toMatch(new RegExp(`^warn ${off.id} is off; its owner switched it off\\. .*--enable$`));
    expect(texts[1]).toMatch(new RegExp(`^fail ${gone.id} is off: .*410.* --enable$`));
  });

  test("failed attempts of the last day are counted for each endpoint, with what the last answer means", async () => {
    const { sandbox, findAll, deliver } = openService({ clock: createManualClock(Date.now() - 25 * HOUR) });
    const { id } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    await deliver(404, 200);
    await sandbox.advance("25h");
    expect(await findAll("deliveries")).toEqual([]);
    await deliver(404, 200, 401);
    const texts = (await findAll("deliveries")).map(textOf);
    expect(texts).toEqual([
      expect.stringMatching(`^warn 2 attempts of the last day failed at ${id}; the last one was answered 401\\.`),
    ]);
    expect(texts[0]).toContain("rotate-secret");
    expect(texts[0]).toContain(`npx pigeonhole api webhooks.deliveries ${id} --query status=failed`);
  });

  test("what a key has no scope for is said in one line, and the rest is looked at", async () => {
    const { sandbox, look } = openService({ apiKeys: [{ token: TOKEN, scopes: ["webhooks:read"] }] });
    sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    expect((await look()).map(textOf)).toEqual([
      "skip Not looked at: the API key, or its role, lacks the scope keys:read. Add keys:read to the key, and to its role if it has one.",
      expect.stringMatching(/^pass whe_/),
    ]);
  });

  test.each([
    ["revoked", /does not take the API key/],
    ["inactive", /switched off/],
  ] as const)("a key that is %s is told once", async (status, words) => {
    const { sandbox, look } = openService();
    sandbox.apiKeys.setStatus(TOKEN, status);
    const results = await look();
    expect(results).toMatchObject([{ name: "key", status: "fail", message: expect.stringMatching(words) as string }]);
  });

  test("an interruption ends the look", async () => {
    const { look } = openService();
    await expect(look(AbortSignal.abort(new Error("interrupted")))).rejects.toThrow("interrupted");
  });
});
