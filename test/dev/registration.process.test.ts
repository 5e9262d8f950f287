import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { hostname } from "node:os";
import { createClient } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import { type App, deliver, makeDelivery, startApp, startDev } from "./dev-harness.js";
import { makeFolder } from "../support/folder.js";

interface Endpoint {
  id: string;
  url: string;
  description: string | null;
  eventTypes: string[];
  createdAt: string;
}

const SECRET = `whsec_${"r".repeat(43)}`;

/** The service's endpoints, as far as a registration uses them. */
async function startService() {
  const endpoints = new Map<string, Endpoint>();
  const calls: string[] = [];
  let made = 0;
  const rules = { loseCreate: false, refuseDelete: false, refuseCreate: false };

  function add(description: string | null, url = "https://other.example.com/"): Endpoint {
    made += 1;
    const id = `whe_${String(made).padStart(24, "0")}`;
    const endpoint = { id, url, description, eventTypes: ["*"], createdAt: "2026-01-01T00:00:00Z" };
    endpoints.set(id, endpoint);
    return endpoint;
  }

  const reply = (res: ServerResponse, status: number, value: unknown): void => {
    res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };

  const app: App = await startApp((req: IncomingMessage, res: ServerResponse) => {
    const { method = "", url = "" } = req;
    const id = url.split("/").at(-1)?.split("?")[0] ?? "";
    const body = app.seen.at(-1)?.body.toString() ?? "";
    calls.push(`${method} ${url.split("?")[0]}`);
    if (method === "GET")
      return reply(res, 200, { object: "list", data: [...endpoints.values()], hasMore: false, nextCursor: null });
    if (method === "POST") {
      if (rules.refuseCreate) return reply(res, 422, { code: "workspace_limit_reached", message: "Ten endpoints." });
      const input = JSON.parse(body) as { description: string; url: string; eventTypes?: string[] };
      const endpoint = add(input.description, input.url);
      if (input.eventTypes !== undefined) endpoint.eventTypes = input.eventTypes;
      if (rules.loseCreate) return void res.destroy();
      return reply(res, 201, { ...endpoint, secret: SECRET });
    }
    if (method === "PATCH") {
      const endpoint = { ...(endpoints.get(id) ?? add(null)), ...(JSON.parse(body) as object) };
      endpoints.set(id, endpoint);
      return reply(res, 200, endpoint);
    }
    if (rules.refuseDelete) return reply(res, 500, { code: "internal_error", message: "No." });
    endpoints.delete(id);
    return reply(res, 200, { object: "webhook", id, deleted: true });
  });
  const client = createClient({ apiKey: `svc_live_${"k".repeat(40)}`, baseUrl: app.url, maxRetries: 0 });
  return { endpoints, calls, rules, add, client };
}

const publicUrl = "https://abc.example.com";

describe("a registration", () => {
  test("a registration creates an endpoint with the wanted types and deletes it at the end", async () => {
    const { client, endpoints, calls } = await startService();
    const { dev, folder, kinds, events } = await startDev({
      publicUrl,
      register: { client, eventTypes: ["email.bounced", "form.submitted"] },
    });
    expect([...endpoints.values()]).toMatchObject([
      { url: "https://abc.example.com/webhooks/mail", eventTypes: ["email.bounced", "form.submitted"] },
    ]);
    // Its mark reveals neither folder nor machine.
    const [{ description } = { description: null }] = endpoints.values();
    expect(description).toMatch(/^pigeonhole dev [0-9a-f]{16} pid \d+$/);
    for (const word of [hostname(), folder]) expect(description).not.toContain(word);
    await dev.close();
    expect(endpoints.size).toBe(0);
    expect(calls).toEqual(["GET /webhooks", "POST /webhooks", expect.stringMatching(/^DELETE \/webhooks\/whe_/)]);
    expect(kinds()).toEqual(["registered", "ready", "unregistered", "closed"]);
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });

  test("a registration checks deliveries with the endpoint's secret, and writes it nowhere", async () => {
    const { client } = await startService();
    const { dev, folder } = await startDev({ secrets: [], publicUrl, register: { client } });
    await deliver(dev, makeDelivery({ secret: SECRET }));
    expect(dev.captures.list()[0]?.verify).toMatchObject({
      code: "ok",
      secretRef: expect.stringMatching(/^registered whe_/) as string,
    });
    await dev.captures.flush();
    expect(execFileSync("ls", ["-AR", folder], { encoding: "utf8" })).toContain("cap_");
    expect(() => execFileSync("grep", ["-r", SECRET, folder])).toThrow(/Command failed/);
  });

  test("a registration removes what a crashed run of this folder left, and nothing else", async () => {
    const service = await startService();
    const folder = makeFolder();
    const first = await startDev({ cwd: folder, publicUrl, register: { client: service.client } });
    const [mine] = service.endpoints.values();
    // As a crash leaves it: the endpoint is there and its process is not.
    const mark = (mine?.description ?? "").replace(/ pid \d+$/, "");
    await first.dev.close();
    const dead = 2 ** 22 + 12_345;
    const leftover = service.add(`${mark} pid ${dead}`);
    const kept = [
      service.add(null),
      service.add("Production"),
      service.add(mark),
      service.add(`${mark} pid ${process.ppid}`),
      service.add(`${mark.slice(0, -1)}${mark.endsWith("0") ? "1" : "0"} pid ${dead}`),
      service.add(`pigeonhole dev pid ${dead}`),
      service.add(`${mark} pid ${dead} and more`),
    ];
    const { dev, events } = await startDev({ cwd: folder, publicUrl, register: { client: service.client } });
    expect(events[0]).toEqual({ kind: "swept", endpointIds: [leftover.id] });
    await dev.close();
    expect([...service.endpoints.keys()]).toEqual(kept.map(({ id }) => id));
  });

  test("a registration does not touch the endpoint of a second dev server in the same folder", async () => {
    const { client, endpoints } = await startService();
    const folder = makeFolder();
    const first = await startDev({ cwd: folder, publicUrl, register: { client } });
    const second = await startDev({ cwd: folder, publicUrl, register: { client }, folder: ".second" });
    expect(endpoints.size).toBe(2);
    await second.dev.close();
    await first.dev.close();
    expect(endpoints.size).toBe(0);
  });

  test("a registration whose creation got no answer leaves no endpoint whose secret is lost", async () => {
    const { client, endpoints, rules } = await startService();
    rules.loseCreate = true;
    await expect(startDev({ publicUrl, register: { client } })).rejects.toMatchObject({ code: "no_answer" });
    expect(endpoints.size).toBe(0);
  });

  test("a registration that the service refuses stops the start with the service's message", async () => {
    const { client, rules } = await startService();
    rules.refuseCreate = true;
    await expect(startDev({ publicUrl, register: { client } })).rejects.toThrow(/Ten endpoints/);
  });

  test("a registration that cannot be deleted is named, and the dev server ends all the same", async () => {
    const { client, endpoints, rules } = await startService();
    const { dev, events } = await startDev({ publicUrl, register: { client } });
    rules.refuseDelete = true;
    await dev.close();
    const [id = ""] = endpoints.keys();
    const problem = { kind: "problem", what: expect.stringContaining(id) as string };
    expect(events.slice(-2)).toMatchObject([problem, { kind: "closed" }]);
  });

  test("a registration is deleted if the start is aborted after it", async () => {
    const { client, endpoints, calls } = await startService();
    const stop = new AbortController();
    const create: typeof client.webhooks.create = async (...args) => {
      const created = await client.webhooks.create(...args);
      stop.abort(new Error("Ctrl-C"));
      return created;
    };
    const register = { client: { webhooks: { ...client.webhooks, create } } };
    await expect(startDev({ publicUrl, register, signal: stop.signal })).rejects.toThrow("Ctrl-C");
    expect(calls).toContain("POST /webhooks");
    expect(endpoints.size).toBe(0);
  });

  test("a registration needs a public URL", async () => {
    const { client } = await startService();
    await expect(startDev({ register: { client } })).rejects.toThrow(/give tunnel .* or publicUrl/);
  });
});

describe("a tunnel that comes back under another URL", () => {
  test("a tunnel that gets another URL changes the URL of the endpoint", async () => {
    const { client, endpoints } = await startService();
    const folder = makeFolder();
    writeFileSync(
      `${folder}/tunnel.cjs`,
      `const { existsSync, writeFileSync } = require("node:fs");
const isSecond = existsSync("${folder}/ran");
writeFileSync("${folder}/ran", "");
console.log(isSecond ? "https://second.example.com" : "https://first.example.com");
setInterval(() => { if (!isSecond && existsSync("${folder}/end")) process.exit(1); }, 20);`,
    );
    const tunnel = `"${process.execPath}" "${folder}/tunnel.cjs" {port}`;
    const { kinds } = await startDev({ tunnel, register: { client } });
    const urls = () => [...endpoints.values()].map(({ url }) => url);
    expect(urls()).toEqual(["https://first.example.com/webhooks/mail"]);
    writeFileSync(`${folder}/end`, "");
    await expect.poll(urls).toEqual(["https://second.example.com/webhooks/mail"]);
    await expect.poll(kinds).toContain("registration_moved");
  });
});
