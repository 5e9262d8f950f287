import { request as requestHttp } from "node:http";
import { COMMANDS } from "#pigeonhole/cli/commands.js";
import { CONTROL_OPERATIONS } from "#pigeonhole/sandbox/control/control.js";
import { createClient } from "pigeonhole/client";
import { type SandboxProcessOptions, type SandboxLogEntry, startSandboxServer } from "pigeonhole/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { openProbe, openSandbox, verdictOf, fire } from "./support.js";
import { refusalOf } from "../support/error-of.js";

/** What of the answers is looked at. */
interface ControlAnswer {
  data: { attempt: number; event: unknown }[];
  advancedMs: number;
  endpoints: number;
}

const DROP = { fault: { kind: "drop" } };

async function open(options: SandboxProcessOptions = {}) {
  const running = await startSandboxServer({ clock: "manual", seed: "server", ...options });
  onTestFinished(() => running.close());
  const call = async (method: string, path: string, body?: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(running.url + path, { method, ...(body === undefined ? {} : { body: text }) });
    return { status: response.status, body: (await response.json()) as ControlAnswer };
  };
  return { ...running, call };
}

describe("a sandbox server", () => {
  test("a sandbox server delivers to its endpoints, moves its clock and reports it through the control API", async () => {
    const probe = await openProbe((_, index) => (index < 2 ? 503 : 200));
    const { call, endpoints } = await open({ endpoints: [{ url: probe.url, eventTypes: ["email.bounced"] }] });
    const emitted = await call("POST", "/sandbox/emit", { type: "email.bounced", data: { subject: "Hi" } });
    expect(emitted).toMatchObject({ status: 200, body: { data: [{ event: { data: { subject: "Hi" } } }] } });
    const settled = await call("POST", "/sandbox/advance", { by: 0 });
    expect(settled.body).toMatchObject({ openDeliveries: 1, nextAttemptAt: expect.any(String), endpoints: 1 });
    const next = await call("POST", "/sandbox/advance-to-next");
    expect(next.body.advancedMs).toBeGreaterThan(50_000);
    const advanced = await call("POST", "/sandbox/advance", { by: "28h" });
    expect(advanced.body).toMatchObject({ openDeliveries: 0, nextAttemptAt: null });
    const { body } = await call("GET", "/sandbox/deliveries?status=failed");
    expect(body.data.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(probe.got).toHaveLength(3);
    expect(verdictOf(probe.got[0], endpoints[0]?.secret ?? "", Date.now())).toMatchObject({ ok: true });
  });

  test("a sandbox server never shows a secret or its seed in the control API", async () => {
    const secret = `whsec_${"c".repeat(43)}`;
    const { call } = await open({ endpoints: [{ url: "http://127.0.0.1:9/", secret }], seed: "do-not-tell" });
    const names = ["state", "deliveries", "contact-events"];
    const texts = await Promise.all(names.map((name) => call("GET", `/sandbox/${name}`)));
    expect(texts.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(JSON.stringify(texts)).not.toMatch(/whsec_|do-not-tell|svc_live/);
  });

  test("a sandbox server serves the API beside it, and keeps contact events", async () => {
    const { url, sandbox, call } = await open();
    const client = createClient({ apiKey: sandbox.apiKey, baseUrl: url });
    await client.contactEvents.send({ name: "order.shipped", email: "ada@customer.example.com" });
    const { body } = await call("GET", "/sandbox/contact-events");
    expect(body.data).toMatchObject([{ name: "order.shipped", email: "ada@customer.example.com" }]);
    await client.webhooks.create({ url: "https://app.example.com/" });
    expect((await call("GET", "/sandbox/state")).body.endpoints).toBe(1);
  });

  test("a sandbox server adds faults and removes them", async () => {
    const probe = await openProbe();
    const { call, url, sandbox } = await open({ endpoints: [{ url: probe.url }] });
    const deliveries = [{ fault: { kind: "status", status: 500 }, types: "email.*" }];
    const api = [{ fault: { kind: "error", status: 500 }, calls: "webhooks.list" }];
    expect((await call("POST", "/sandbox/faults", { deliveries, api })).body).toEqual({ added: 2 });
    await call("POST", "/sandbox/emit", { type: "email.sent", count: 3 });
    await call("POST", "/sandbox/advance", { by: 0 });
    expect(probe.got).toHaveLength(0);
    const client = createClient({ apiKey: sandbox.apiKey, baseUrl: url, maxRetries: 0 });
    expect(await refusalOf(() => client.webhooks.list())).toMatchObject({ status: 500 });
    await call("POST", "/sandbox/faults", { clear: true });
    await call("POST", "/sandbox/advance", { by: "2m" });
    expect([probe.got.length, (await client.webhooks.list()).items.length]).toEqual([3, 1]);
  });

  test("a sandbox server opens the link of a confirmation email", async () => {
    const { url, sandbox, call } = await open();
    const client = createClient({ apiKey: sandbox.apiKey, baseUrl: url });
    const settings = { doubleOptIn: true, senderAddress: "support@acme.example.com" };
    const { id } = await client.forms.create({ name: "News", settings, publish: true });
    const email = "new@customer.example.com";
    await client.forms.subscribe(id, { email });
    const confirm = async () => (await call("POST", "/sandbox/confirm-sign-up", { formId: id, email })).body;
    expect([await confirm(), await confirm()]).toEqual([{ confirmed: true }, { confirmed: false }]);
  });

  test("a sandbox server is reset with or without its endpoints", async () => {
    const { call } = await open({ endpoints: [{ url: "http://127.0.0.1:9/" }] });
    await call("POST", "/sandbox/emit", { type: "email.sent" });
    await call("POST", "/sandbox/advance", { by: 0 });
    const { body } = await call("POST", "/sandbox/reset", { keepEndpoints: true });
    expect(body).toMatchObject({ openDeliveries: 0, endpoints: 1, nextAttemptAt: null });
    expect((await call("GET", "/sandbox/deliveries")).body.data).toEqual([]);
    expect((await call("POST", "/sandbox/reset?keepEndpoints=true")).body.endpoints).toBe(0);
  });

  test.each<[what: string, line: string, body: unknown, status: number, code: string]>([
    ["an unknown path", "POST explode", undefined, 404, "resource_not_found"],
    ["a wrong method", "GET emit", undefined, 404, "resource_not_found"],
    ["no JSON", "POST emit", "{", 400, "invalid_parameter"],
    ["no object", "POST emit", [], 400, "invalid_parameter"],
    ["no type", "POST emit", {}, 422, "invalid_parameter"],
    ["an unknown type", "POST emit", { type: "email.lost" }, 422, "invalid_argument"],
    ["an unknown field", "POST emit", { type: "email.sent", date: 1 }, 422, "invalid_parameter"],
    ["data that is none", "POST emit", { type: "email.sent", data: 1 }, 422, "invalid_parameter"],
    ["a count of 0", "POST emit", { type: "email.sent", count: 0 }, 422, "invalid_parameter"],
    ["no time", "POST advance", {}, 422, "invalid_parameter"],
    ["a strange time", "POST advance", { by: "soon" }, 422, "invalid_argument"],
    ["a time beyond all dates", "POST advance", { by: 1e300 }, 422, "invalid_argument"],
    ["rules that are no list", "POST faults", { deliveries: {} }, 422, "invalid_parameter"],
    ["a rule without a fault", "POST faults", { api: [{}] }, 422, "invalid_parameter"],
    ["a strange fault", "POST faults", { deliveries: [{ fault: { kind: "x" } }] }, 422, "invalid_parameter"],
    ["a slip in a rule", "POST faults", { api: [{ ...DROP, type: "x" }] }, 422, "invalid_parameter"],
    ["a clear that is no flag", "POST faults", { clear: "true" }, 422, "invalid_parameter"],
    ["no form", "POST confirm-sign-up", { email: "a@x.example" }, 422, "invalid_parameter"],
    ["no address", "POST confirm-sign-up", { formId: "frm_1" }, 422, "invalid_parameter"],
    ["a keepEndpoints that is no flag", "POST reset", { keepEndpoints: "yes" }, 422, "invalid_parameter"],
    ["a strange status", "GET deliveries?status=lost", undefined, 422, "invalid_parameter"],
  ])("a sandbox server refuses %s", async (_, line, body, status, code) => {
    const { call } = await open();
    const [method = "", path = ""] = line.split(" ");
    const answer = await call(method, `/sandbox/${path}`, body);
    expect(answer).toMatchObject({ status, body: { code, message: expect.any(String) } });
  });

  test("a sandbox server that refuses a request does not change its state", async () => {
    const { call } = await open({ endpoints: [{ url: "http://127.0.0.1:9/" }] });
    await call("POST", "/sandbox/reset", { keepEndpoints: "yes" });
    await call("POST", "/sandbox/advance", { by: 1e300 });
    await call("POST", "/sandbox/faults", { deliveries: [{ fault: { kind: "status", status: 503, retryAfter: 5 } }] });
    await call("POST", "/sandbox/emit", { type: "email.sent" });
    const { body } = await call("POST", "/sandbox/advance", { by: 0 });
    expect(body).toMatchObject({ endpoints: 1, openDeliveries: 1, nextAttemptAt: expect.any(String) });
  });
});

describe("requests from web pages", () => {
  const ask = (url: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = requestHttp(`${url}/sandbox/state`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.once("error", reject);
      request.end();
    });

  test.each([
    ["a website's name for this machine", { host: "evil.example.com" }, 403],
    ["another origin", { origin: "https://evil.example.com" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["this machine by name", { host: "localhost:80" }, 200],
  ])("a request by %s is accepted or refused by its headers: %s", async (_, headers, status) => {
    const { url } = await open();
    expect(await ask(url, headers)).toBe(status);
  });
});

describe("the sandbox's listener", () => {
  test("the sandbox listens on this machine only, and says when the port is taken", async () => {
    const { port } = await open();
    const options = { host: "0.0.0.0" } as unknown as SandboxProcessOptions;
    expect(await refusalOf(() => startSandboxServer(options))).toEqual({ code: "invalid_option" });
    expect(await refusalOf(() => startSandboxServer({ port }))).toEqual({ code: "port_in_use" });
    expect(await refusalOf(() => startSandboxServer({ port: -1 }))).toEqual({ code: "invalid_option" });
  });

  test("the sandbox listens once, gives the base URL, and stops everything on close", async () => {
    const sandbox = openSandbox();
    const { url } = await sandbox.listen();
    expect(sandbox.baseUrl).toBe(url);
    expect(await refusalOf(() => sandbox.listen())).toEqual({ code: "invalid_argument" });
    sandbox.endpoints.create({ url: "http://127.0.0.1:9/" });
    sandbox.emit("email.sent");
    await sandbox.close();
    await expect(fetch(url)).rejects.toThrow();
    expect(sandbox.openDeliveries).toBe(0);
    expect(await refusalOf(() => sandbox.emit("email.sent"))).toEqual({ code: "stopped" });
  });
});

test("a list of faults with one that is refused changes nothing", async () => {
  const { call, sandbox } = await open();
  sandbox.faults.deliveries.add({ fault: { kind: "status", status: 503 } });
  sandbox.endpoints.create({ url: "http://127.0.0.1:9/" });
  const refused = [
    { clear: true, deliveries: [DROP, { fault: { kind: "dorp" } }] },
    { clear: true, deliveries: [DROP], api: [{ fault: { kind: "error", status: 200 } }] },
  ];
  for (const faults of refused) expect((await call("POST", "/sandbox/faults", faults)).status).toBe(422);
  await fire(sandbox);
  expect(sandbox.deliveries()).toMatchObject([{ fault: "status" }]);
});

test("the log has everything that happens, and no secret, body or query", async () => {
  const entries: SandboxLogEntry[] = [];
  const onLog = (entry: SandboxLogEntry) => void entries.push(entry);
  const sandbox = openSandbox({ onLog, receive: () => new Response(null, { status: 410 }) });
  const { id, secret } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook?token=hush" });
  sandbox.endpoints.rotateSecret(id);
  sandbox.emit("email.bounced", { subject: "hush" });
  await sandbox.advance("1m");
  const client = createClient(sandbox.clientOptions);
  await client.contactEvents.send({ name: "order.shipped", email: "ada@customer.example.com" });
  sandbox.endpoints.delete(id);
  const kinds = entries.map((entry) => (entry.kind === "endpoint" ? entry.change : entry.kind));
  expect(kinds.join(" ")).toBe("created rotated event disabled attempt clock contact_event api deleted");
  expect(JSON.stringify(entries)).not.toMatch(new RegExp(`hush|whsec_|svc_live|ada@|${secret}`));
});

test("the help of the command names every path of the control API", () => {
  const details = COMMANDS.find(({ spec }) => spec.name === "sandbox")?.spec.details ?? "";
  const paths = Object.keys(CONTROL_OPERATIONS).map((line) => line.replace(/^\w+ /, ""));
  expect(details.match(/\/sandbox\/[\w-]+/g)?.toSorted()).toEqual(paths.toSorted());
});
