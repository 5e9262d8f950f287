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
  /** Paths of the calls that were made. */
  const paths: string[] = [];
  const { fetch: send } = sandbox.clientOptions;
  const fetch: typeof send = (url, init) => {
    paths.push(new URL(url instanceof Request ? url.url : url).pathname);
    return send(url, init);
  };
  const clientOf = (apiKey: string) => createClient({ ...sandbox.clientOptions, fetch, apiKey, maxRetries: 0 });
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
  return { sandbox, paths, client: clientOf(token), look, findAll, deliver };
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
      ["deliveries", "pass", null],
      ["lane", "pass", null],
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
    [["keys:read", "roles:read", "webhooks:read"], /lacks contacts:write .*, webhooks:write .* its role Narrow\.$/],
    // The role is not known then.
    [["keys:read", "webhooks:read"], /^warn .* not known: its role Narrow cannot be read\. .* scope roles:read /],
    [["keys:read", "roles:read", "contacts:write", "webhooks:read", "webhooks:write"], /^pass /],
  ])(
    "a key is capped by a role with %j, and a role that it may not read is a warning",
    async (permissions, expected) => {
      const { sandbox, client, findAll } = openService();
      await client.roles.create({ name: "Narrow", permissions });
      const results = await findAll("key", sandbox.callers.key({ scopes: SCOPES, role: "Narrow" }));
      expect(results.map(textOf)).toEqual([expect.stringMatching(expected)]);
    },
  );

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
    expect((await findAll("deliveries")).map(({ status }) => status)).toEqual(["pass"]);
    await deliver(404, 200, 401);
    const texts = (await findAll("deliveries")).map(textOf);
    expect(texts).toEqual([
      expect.stringMatching(`^warn 2 attempts of the last day failed at ${id}; the last one was answered 401\\.`),
    ]);
    expect(texts[0]).toContain("rotate-secret");
    expect(texts[0]).toContain(`npx pigeonhole api webhooks.deliveries ${id} --query status=failed`);
  });

  test("many failures at one endpoint do not hide those at another", async () => {
    const { sandbox, findAll, deliver } = openService();
    const few = sandbox.endpoints.create({ url: "http://127.0.0.1/few" });
    await deliver(404, 404, 404);
    sandbox.endpoints.update(few.id, { enabled: false });
    const many = sandbox.endpoints.create({ url: "http://127.0.0.1/many" });
    // A success in between, for the service switches off an endpoint that only fails.
    for (let count = 0; count < 101; count += 1) await deliver(404, 200);
    const texts = (await findAll("deliveries")).map(textOf);
    expect(texts).toContainEqual(expect.stringMatching(`^warn 3 attempts of the last day failed at ${few.id};`));
    expect(texts).toContainEqual(expect.stringMatching(`^warn at least 100 attempts of .* failed at ${many.id};`));
  });

  test("endpoints are listed once, and a log that cannot be read does not hide the others", async () => {
    const { sandbox, paths, look, deliver } = openService();
    const first = sandbox.endpoints.create({ url: "http://127.0.0.1/first" });
    const second = sandbox.endpoints.create({ url: "http://127.0.0.1/second" });
    await deliver(404);
    sandbox.faults.api.add({ fault: { kind: "error", status: 500 }, calls: "webhooks.deliveries", times: 1 });
    const texts = (await look()).filter(({ name }) => name === "deliveries").map(textOf);
    expect(paths.filter((path) => path.endsWith("/webhooks"))).toHaveLength(1);
    expect(texts).toHaveLength(2);
    expect(texts[0]).toMatch(/^warn The log of whe_\w+ was not looked at: /);
    expect([first.id, second.id].some((id) => texts[1]?.includes(`failed at ${id};`))).toBe(true);
  });

  test("a paused lane is named with its figures, and with the command that resumes it", async () => {
    const { sandbox, findAll } = openService({ limits: { pauseAfterRecipients: 10 } });
    for (let count = 0; count < 10; count += 1) sandbox.emit("email.complained", { stream: "broadcast" });
    const [lane] = await findAll("lane");
    expect(lane).toMatchObject({
      status: "warn",
      fix: expect.stringContaining("api sending.resume broadcast") as string,
    });
    expect(lane?.message).toMatch(
      /paused since 20\S+Z \(complaint-rate\): of 10 recipients of 7 days, 0 bounced and 10 /,
    );
  });

  test("what a key has no scope for is said in one line, and the rest is looked at", async () => {
    const { sandbox, look } = openService({ apiKeys: [{ token: TOKEN, scopes: ["webhooks:read"] }] });
    sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
    expect((await look()).map(textOf)).toEqual([
      "skip Not looked at: the API key, or its role, lacks the scope keys:read. Whether contact events can be sent (contacts:write) is not known. Add keys:read to the key, and to its role if it has one.",
      expect.stringMatching(/^pass whe_/),
      "pass No attempt of the last day failed. ",
      "skip Not looked at: the API key, or its role, lacks the scope emails:read. Add emails:read to the key, and to its role if it has one.",
    ]);
    const { look: lookBlind } = openService({ apiKeys: [{ token: TOKEN, scopes: [] }] });
    expect((await lookBlind()).map(({ name, status, fix }) => [name, status, fix])).toEqual([
      ["key", "skip", expect.stringContaining("keys:read")],
      ["endpoint", "skip", expect.stringContaining("webhooks:read")],
      ["deliveries", "skip", expect.stringContaining("webhooks:read")],
      ["lane", "skip", expect.stringContaining("emails:read")],
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
