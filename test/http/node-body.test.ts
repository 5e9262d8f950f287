import { EventEmitter } from "node:events";
import type { RequestHandler } from "express";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type NodeRequest, readNodeBody } from "#pigeonhole/http/node-body.js";
import { createMiddleware } from "#pigeonhole/http/node-mount.js";
import { createManualClock as fakeClock } from "#pigeonhole/base/manual-clock.js";
import { expressVersions, serveExpress } from "../support/mounts.js";
import { serve, type RunningServer } from "../support/serve.js";
import { createProbe, LIMIT } from "../support/probe.js";
import { connect, head } from "../support/raw-client.js";

/** JSON that no serialiser would write this way. */
const body = '{ "id":"evt_1",\n  "n": 1.0 }';

async function post(
  server: RunningServer,
  contentType = "application/json",
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}/hooks`, {
    method: "POST",
    body,
    headers: { "content-type": contentType },
  });
  return { status: response.status, text: await response.text() };
}

describe.each(expressVersions)("behind $name", ({ create }) => {
  const keepRawBody: RequestHandler = create.json({
    verify: (req, _res, bytes) => void Object.assign(req, { rawBody: bytes }),
  });
  const rawBodyAsText: RequestHandler = create.json({
    verify: (req, _res, bytes) => void Object.assign(req, { rawBody: bytes.toString() }),
  });
  const later: RequestHandler = (_req, _res, next) => void setTimeout(next, 50);
  const pauseAndGoOnLater: RequestHandler = (req, _res, next) => {
    req.pause();
    setTimeout(next, 50);
  };
  const countBytes: RequestHandler = (req, _res, next) => {
    req.on("data", () => {});
    next();
  };
  const readSome: RequestHandler = (req, _res, next) => void req.once("data", () => next());
  const readAll: RequestHandler = (req, _res, next) => void req.resume().on("end", () => next());
  const pullSlowly: RequestHandler = (req, _res, next) => {
    req.on("readable", () => {});
    next();
  };
  const decode: RequestHandler = (req, _res, next) => {
    req.setEncoding("utf8");
    next();
  };

  test.each<[string, RequestHandler[]]>([
    ["express.raw", [create.raw({ type: "*/*" })]],
    ["express.json that keeps rawBody in its verify hook", [keepRawBody]],
    ["a parser for other content types", [create.urlencoded({ extended: false }), create.text()]],
    ["a middleware that answers later", [later]],
    ["a middleware that pauses the stream", [pauseAndGoOnLater]],
    ["a middleware that counts bytes as they pass", [countBytes]],
  ])("the signed bytes are found after %s", async (_, before) => {
    const probe = await createProbe();
    const server = await serveExpress(create, probe, before);
    expect(await post(server)).toMatchObject({ status: 200 });
    expect(probe.received.map((request) => request.body.toString())).toEqual([body]);
  });

  test("express.json for every route does no harm to a content type that it skips", async () => {
    const probe = await createProbe();
    const server = await serveExpress(create, probe, [create.json()]);
    expect(await post(server, "application/vnd.mail+octets")).toMatchObject({ status: 200 });
    expect(probe.received[0]?.body.toString()).toBe(body);
  });

  test.each<[string, RequestHandler[]]>([
    ["express.json", [create.json()]],
    ["express.text", [create.text({ type: "*/*" })]],
    ["express.json that keeps rawBody as a string", [rawBodyAsText]],
    ["a middleware that read some of it", [readSome]],
    ["a middleware that read it all", [readAll]],
    ["a middleware that reads it at its own pace", [pullSlowly]],
    ["a middleware that decodes it", [decode]],
  ])("a body that %s has consumed is answered 503 without waiting for more of it", async (_, before) => {
    const probe = await createProbe({ bodyTimeoutMs: 300_000 });
    const server = await serveExpress(create, probe, before);
    expect(await post(server)).toEqual({ status: 503, text: "body_consumed" });
    expect(probe.outcomes).toEqual(["body_consumed"]);
  });

  test("an empty body that was already read is answered 503 as well", async () => {
    const server = await serveExpress(create, await createProbe(), [readAll]);
    const response = await fetch(`${server.url}/hooks`, { method: "POST" });
    expect([response.status, await response.text()]).toEqual([503, "body_consumed"]);
  });

  test.each<[string, RequestHandler[]]>([
    ["express.raw", [create.raw({ type: "*/*", limit: LIMIT * 2 })]],
    ["rawBody", [keepRawBody]],
  ])("the limit applies to bytes kept by %s", async (_, before) => {
    const probe = await createProbe({ maxBodyBytes: body.length - 1 });
    const server = await serveExpress(create, probe, before);
    expect(await post(server)).toMatchObject({ status: 413, text: "too_large" });
  });

  test("a mount under a prefix works next to a parser for the other routes", async () => {
    const probe = await createProbe();
    const app = create();
    const hooks = create.Router();
    hooks.use(createMiddleware(probe.handle, probe.clock));
    app.use("/hooks", hooks);
    app.use(create.json());
    app.post("/echo", (req, res) => void res.json(req.body));
    const server = await serve(app);
    expect(await post(server)).toMatchObject({ status: 200 });
    expect(probe.received[0]?.body.toString()).toBe(body);
    const echo = await fetch(`${server.url}/echo`, {
      method: "POST",
      body: '{"a":1}',
      headers: { "content-type": "application/json" },
    });
    expect(await echo.json()).toEqual({ a: 1 });
  });

  test("an answer that a middleware has already sent is not changed", async () => {
    const answerFirst: RequestHandler = (_req, res, next) => {
      res.status(202).write("mi");
      next();
      setTimeout(() => res.end("ne"), 50);
    };
    const probe = await createProbe();
    const server = await serveExpress(create, probe, [answerFirst]);
    expect(await post(server)).toMatchObject({ status: 202, text: "mine" });
  });

  test("a delivery whose sender left before it reached the mount is dropped", async () => {
    const probe = await createProbe();
    const server = await serveExpress(create, probe, [(_req, res, next) => void res.once("close", () => next())]);
    const client = await connect(server.port);
    client.write(`${head("content-length: 10")}abc`);
    await wait(20);
    client.destroy();
    await expect.poll(() => probe.outcomes).toEqual(["body_aborted"]);
  });
});

test("no timer is left after a body was read, or after an early answer", async () => {
  const clock = fakeClock();
  const probe = await createProbe({ clock });
  const server = await serve(createMiddleware(probe.handle, probe.clock));
  expect((await post(server)).status).toBe(200);
  expect(clock.pendingTimers).toBe(0);
  const client = await connect(server.port);
  client.write(head(`content-length: ${LIMIT + 1}`));
  expect((await client.answer()).status).toBe(413);
  client.write("a".repeat(LIMIT + 1));
  await client.closed;
  expect(clock.pendingTimers).toBe(0);
});

test("a sender that stops has a second to read its early answer, and is then disconnected", async () => {
  const clock = fakeClock();
  const server = await serve(createMiddleware((await createProbe({ clock })).handle, clock));
  const client = await connect(server.port);
  client.write(head(`content-length: ${LIMIT + 1}`));
  expect(await client.answer()).toMatchObject({ status: 413, headers: { connection: "close" } });
  let closed = false;
  const closing = client.closed.then(() => (closed = true));
  await clock.advance(999);
  await wait(20);
  expect(closed).toBe(false);
  await clock.advance(1);
  await closing;
});

/** Requests that some platforms make up carry bytes but are no stream. */
test.each<[string, object, string]>([
  ["with bytes in body", { body: Buffer.from("{}") }, "read"],
  ["with bytes in rawBody", { rawBody: new Uint8Array(2), body: {} }, "read"],
  ["with a parsed body only", { body: {} }, "body_consumed"],
])("an object that imitates a request %s is handled", async (_, fields, kind) => {
  const imitation: unknown = Object.assign(new EventEmitter(), { headers: {} }, fields);
  const { admission } = await createProbe();
  const { outcome } = await admission.admit(Number.NaN, async (room) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the point of the test
    const read = await readNodeBody(imitation as NodeRequest, room);
    return { kind: read.kind === "read" ? "stopping" : read.kind };
  });
  expect(outcome).toEqual({ kind: kind === "read" ? "stopping" : kind });
});
