import { createClient } from "pigeonhole/client";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "#pigeonhole/base/clock.js";
import type { AdvanceReport, EmitReport, SandboxState } from "#pigeonhole/dev/sandbox/sandbox-state.js";
import { DevSandbox } from "#pigeonhole/dev/sandbox/dev-sandbox.js";
import type { DevServerOptions } from "#pigeonhole/dev/options.js";
import type { SandboxLogEntry } from "#pigeonhole/sandbox/log-entry.js";
import type { DevServer } from "#pigeonhole/dev/start-dev-server.js";
import { callApi, startApp, startDev } from "./dev-harness.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function startWithSandbox(options: DevServerOptions = {}) {
  const log: SandboxLogEntry[] = [];
  const onLog = (entry: SandboxLogEntry) => void log.push(entry);
  const sandbox = await DevSandbox.start({ port: 0, eventTypes: EVENT_TYPES, onLog, clock: systemClock });
  onTestFinished(() => sandbox.close());
  const started = await startDev({ sandbox, ...options });
  return { ...started, sandbox, log };
}

async function stateOf(dev: DevServer): Promise<SandboxState> {
  const { status, json } = await callApi<SandboxState>(dev, "/api/sandbox");
  expect(status).toBe(200);
  return json;
}

/** Fires an event and waits for the answer to its first attempt. */
async function fire(dev: DevServer, type = "email.received"): Promise<string> {
  const { status, json } = await callApi<EmitReport>(dev, "/api/sandbox/emit", { type });
  expect([status, json]).toMatchObject([200, { deliveries: 1 }]);
  const [id = ""] = json.eventIds;
  const isAnswered = async () => (await stateOf(dev)).deliveries.some((one) => one.eventId === id && one.attempts[0]);
  await expect.poll(isAnswered).toBeTruthy();
  return id;
}

/** An app that answers 503 to so many deliveries, and 200 from then on. */
async function appFailing(times: number) {
  let seen = 0;
  return startApp((_, res) => {
    seen += 1;
    res.writeHead(seen <= times ? 503 : 200).end();
  });
}

describe("the sandbox of the page", () => {
  test("an event of the sandbox is delivered through the dev server, signed with its secret", async () => {
    const app = await startApp();
    const { dev } = await startWithSandbox({ forwards: [{ target: app.url }] });
    expect((await callApi(dev, "/api/session")).json).toMatchObject({ sandbox: true });
    const id = await fire(dev, "form.submitted");
    expect(JSON.parse(app.seen[0]?.body.toString() ?? "")).toMatchObject({ id, type: "form.submitted" });
    expect(dev.captures.list()[0]).toMatchObject({ event: { id }, verify: { code: "ok" } });
    const state = await stateOf(dev);
    expect(state).toMatchObject({
      aheadMs: 0,
      nextAttemptAt: null,
      openDeliveries: 0,
      endpoints: [{ url: dev.captureUrl, enabled: true, consecutiveFailures: 0 }],
      deliveries: [{ eventId: id, eventType: "form.submitted", attempts: [{ attempt: 1, status: 200 }], coming: [] }],
    });
    expect(JSON.stringify(state)).not.toMatch(/whsec_|svc_live_/);
  });

  test("without a secret the dev server uses that of the endpoint", async () => {
    const { dev } = await startWithSandbox({ secrets: [] });
    await fire(dev);
    expect(dev.captures.list()[0]?.verify.code).toBe("ok");
  });

  test("attempts to come have the service's waits, and the clock moves to the next one of an event", async () => {
    const app = await appFailing(2);
    const { dev } = await startWithSandbox({ forwards: [{ target: app.url }] });
    const id = await fire(dev);
    const [delivery] = (await stateOf(dev)).deliveries;
    expect(delivery?.coming.map(({ attempt, isPlanned }) => [attempt, isPlanned])).toEqual([
      [2, true],
      ...[3, 4, 5, 6, 7, 8].map((attempt) => [attempt, false]),
    ]);
    const times = [delivery?.attempts[0], ...(delivery?.coming ?? [])].map((one) => Date.parse(one?.at ?? ""));
    const waits = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / MINUTE);
    expect(waits[0]).toBeGreaterThan(0.8);
    expect(waits[0]).toBeLessThan(1.3);
    expect(waits.slice(1)).toEqual([5, 30, 120, 300, 600, 600]);

    const advance = async (body: object) => (await callApi<AdvanceReport>(dev, "/api/sandbox/advance", body)).json;
    const moved = await advance({ toNext: id });
    expect(moved.advancedMs).toBeGreaterThan(MINUTE / 2);
    expect(moved.state.deliveries[0]?.attempts.map(({ status }) => status)).toEqual([503, 503]);
    expect(moved.state.aheadMs).toBeGreaterThan(MINUTE / 2);
    expect(moved.state.endpoints[0]?.consecutiveFailures).toBe(2);

    const later = await advance({ by: "6m" });
    expect(later.advancedMs).toBe(6 * MINUTE);
    expect(later.state.deliveries[0]).toMatchObject({ attempts: [{}, {}, { attempt: 3, status: 200 }], coming: [] });
    for (const toNext of [id, ""]) expect(await advance({ toNext })).toMatchObject({ advancedMs: null });
  });

  test.each<[string, string, object]>([
    ["neither a time nor an event", "advance", {}],
    ["a time and an event", "advance", { by: "1h", toNext: "" }],
    ["a time that is none", "advance", { by: "soon" }],
    ["a fault of nothing", "faults", { rule: { fault: { kind: "drop" } } }],
    ["a fault without a rule", "faults", { of: "api" }],
    ["a rule that is no object", "faults", { of: "api", rule: [] }],
    ["a rule without a fault", "faults", { of: "api", rule: {} }],
    ["an unknown fault", "faults", { of: "deliveries", rule: { fault: { kind: "flood" } } }],
    ["a type that does not exist", "emit", { type: "email.nothing" }],
    ["no type", "emit", {}],
  ])("a request with %s is refused and changes nothing", async (_, path, body) => {
    const { dev } = await startWithSandbox();
    expect(await callApi(dev, `/api/sandbox/${path}`, body)).toMatchObject({ status: 400 });
    expect(await stateOf(dev)).toMatchObject({ aheadMs: 0, faults: [], deliveries: [] });
  });

  test("a fault and an endpoint that are not there any more are not found", async () => {
    const { dev } = await startWithSandbox();
    const missing = (path: string) => callApi(dev, `/api/sandbox/${path}`, {});
    expect(await missing("faults/api-9/remove")).toMatchObject({ status: 404, json: { code: "not_found" } });
    expect(await missing("endpoints/whe_none/resume")).toMatchObject({
      status: 404,
      json: { code: "resource_not_found" },
    });
  });

  test("without a sandbox each route says how to get one", async () => {
    const { dev } = await startDev();
    const refused = { code: "no_sandbox", message: expect.stringContaining("--with-sandbox") as string };
    for (const path of ["", "/advance", "/faults", "/faults/1/remove", "/endpoints/1/resume", "/emit"]) {
      const answer = await callApi(dev, `/api/sandbox${path}`, path === "" ? undefined : {});
      expect(answer).toMatchObject({ status: 404, json: refused });
    }
  });
});

test("a contact event that occurred while the sandbox's clock is ahead is not in the future for it", async () => {
  const { dev, sandbox } = await startWithSandbox();
  await callApi(dev, "/api/sandbox/advance", { by: "2h" });
  expect((await stateOf(dev)).aheadMs).toBeGreaterThanOrEqual(2 * HOUR);
  const client = createClient({ apiKey: sandbox.service.apiKey, baseUrl: sandbox.service.baseUrl });
  const event = { name: "order.shipped", email: "ada@customer.example.com", occurredAt: new Date().toISOString() };
  await expect(client.contactEvents.send(event)).resolves.toMatchObject({ name: "order.shipped" });
});
