import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { createClient } from "pigeonhole/client";
import { createSandbox, type ApiFaultRule } from "pigeonhole/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EndpointWithSecret } from "#pigeonhole/sandbox/control/sandbox.js";
import { deliver, makeDelivery, startDev } from "./dev-harness.js";
import { makeFolder } from "../support/folder.js";

/** The service, whose endpoints a registration makes and deletes. */
function startService() {
  const calls: string[] = [];
  const sandbox = createSandbox({
    onLog: (entry) => entry.kind === "api" && calls.push(entry.call.call ?? entry.call.method),
  });
  onTestFinished(() => sandbox.close());
  const client = createClient({ ...sandbox.clientOptions, maxRetries: 0 });
  const made: EndpointWithSecret[] = [];
  const create: typeof client.webhooks.create = async (...args) => {
    const created = await client.webhooks.create(...args);
    made.push(created);
    return created;
  };
  const fail = (call: string, fault: ApiFaultRule["fault"]) =>
    sandbox.faults.api.add({ calls: `webhooks.${call}`, fault });
  return {
    endpoints: () => sandbox.endpoints.list(),
    /** Those that the registration got, with their secrets. */
    made,
    calls,
    fail,
    add: (description: string | undefined) =>
      sandbox.endpoints.create({
        url: "https://other.example.com/",
        ...(description !== undefined && { description }),
      }),
    client: { webhooks: { ...client.webhooks, create } },
  };
}

const publicUrl = "https://abc.example.com";

describe("a registration", () => {
  test("a registration creates an endpoint with the wanted types and deletes it at the end", async () => {
    const { client, endpoints, made, calls } = startService();
    const { dev, folder, kinds, events } = await startDev({
      publicUrl,
      register: { client, eventTypes: ["email.bounced", "form.submitted"] },
    });
    expect(endpoints()).toMatchObject([
      { url: "https://abc.example.com/webhooks/mail", eventTypes: ["email.bounced", "form.submitted"] },
    ]);
    // Its mark reveals neither folder nor machine.
    const [{ description } = { description: null }] = endpoints();
    expect(description).toMatch(/^pigeonhole dev [0-9a-f]{16} pid \d+$/);
    for (const word of [hostname(), folder]) expect(description).not.toContain(word);
    await dev.close();
    expect(endpoints()).toEqual([]);
    expect(calls).toEqual(["webhooks.list", "webhooks.create", "webhooks.delete"]);
    expect(kinds()).toEqual(["registered", "ready", "unregistered", "closed"]);
    expect(JSON.stringify(events)).not.toContain(made[0]?.secret);
  });

  test("a registration checks deliveries with the endpoint's secret, and writes it nowhere", async () => {
    const { client, made } = startService();
    const { dev, folder } = await startDev({ secrets: [], publicUrl, register: { client } });
    const [{ secret } = expect.unreachable()] = made;
    await deliver(dev, makeDelivery({ secret }));
    expect(dev.captures.list()[0]?.verify).toMatchObject({
      code: "ok",
      secretRef: expect.stringMatching(/^registered whe_/) as string,
    });
    await dev.captures.flush();
    expect(execFileSync("ls", ["-AR", folder], { encoding: "utf8" })).toContain("cap_");
    expect(() => execFileSync("grep", ["-r", secret, folder])).toThrow(/Command failed/);
  });

  test("a registration removes what a crashed run of this folder left, and nothing else", async () => {
    const service = startService();
    const folder = makeFolder();
    const first = await startDev({ cwd: folder, publicUrl, register: { client: service.client } });
    const [mine] = service.endpoints();
    // As a crash leaves it: the endpoint is there and its process is not.
    const mark = (mine?.description ?? "").replace(/ pid \d+$/, "");
    await first.dev.close();
    const dead = 2 ** 22 + 12_345;
    const leftover = service.add(`${mark} pid ${dead}`);
    const kept = [
      service.add(undefined),
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
    expect(
      service
        .endpoints()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(kept.map(({ id }) => id).toSorted());
  });

  test("a registration does not touch the endpoint of a second dev server in the same folder", async () => {
    const { client, endpoints } = startService();
    const folder = makeFolder();
    const first = await startDev({ cwd: folder, publicUrl, register: { client } });
    const second = await startDev({ cwd: folder, publicUrl, register: { client }, folder: ".second" });
    expect(endpoints()).toHaveLength(2);
    await second.dev.close();
    await first.dev.close();
    expect(endpoints()).toEqual([]);
  });

  test("a registration whose creation got no answer leaves no endpoint whose secret is lost", async () => {
    const { client, endpoints, fail } = startService();
    fail("create", { kind: "no_answer", executed: true });
    await expect(startDev({ publicUrl, register: { client } })).rejects.toMatchObject({ code: "no_answer" });
    expect(endpoints()).toEqual([]);
  });

  test("a registration that the service refuses stops the start with the service's message", async () => {
    const { client, fail } = startService();
    fail("create", { kind: "error", status: 422, code: "workspace_limit_reached" });
    await expect(startDev({ publicUrl, register: { client } })).rejects.toThrow(/workspace_limit_reached/);
  });

  test("a registration that cannot be deleted is named, and the dev server ends all the same", async () => {
    const { client, endpoints, fail } = startService();
    const { dev, events } = await startDev({ publicUrl, register: { client } });
    fail("delete", { kind: "error", status: 500 });
    await dev.close();
    const [{ id } = expect.unreachable()] = endpoints();
    const problem = { kind: "problem", what: expect.stringContaining(id) as string };
    expect(events.slice(-2)).toMatchObject([problem, { kind: "closed" }]);
  });

  test("a registration is deleted if the start is aborted after it", async () => {
    const { client, endpoints, calls } = startService();
    const stop = new AbortController();
    const create: typeof client.webhooks.create = async (...args) => {
      const created = await client.webhooks.create(...args);
      stop.abort(new Error("Ctrl-C"));
      return created;
    };
    const register = { client: { webhooks: { ...client.webhooks, create } } };
    await expect(startDev({ publicUrl, register, signal: stop.signal })).rejects.toThrow("Ctrl-C");
    expect(calls).toContain("webhooks.create");
    expect(endpoints()).toEqual([]);
  });

  test("a registration needs a public URL", async () => {
    const { client } = startService();
    await expect(startDev({ register: { client } })).rejects.toThrow(/give tunnel .* or publicUrl/);
  });
});

describe("a tunnel that comes back under another URL", () => {
  test("a tunnel that gets another URL changes the URL of the endpoint", async () => {
    const { client, endpoints } = startService();
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
    const urls = () => endpoints().map(({ url }) => url);
    expect(urls()).toEqual(["https://first.example.com/webhooks/mail"]);
    writeFileSync(`${folder}/end`, "");
    await expect.poll(urls).toEqual(["https://second.example.com/webhooks/mail"]);
    await expect.poll(kinds).toContain("registration_moved");
  });
});
