import { request as httpRequest } from "node:http";
import express from "express";
import { afterEach, expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import { createListener } from "#pigeonhole/http/node-mount.js";
import { serve, type RunningServer } from "./mounts.js";
import { createProbeIntake } from "./probe-intake.js";

const open: RunningServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function startInFrontOfExpress() {
  const intake = createProbeIntake();
  const app = express();
  app.use(express.json());
  app.use((req, res) => void res.json({ path: req.path, body: req.body ?? null }));
  const server = await serve(createListener(intake, { path: "/hooks", next: app }));
  open.push(server);
  return { intake, server };
}

/** Unlike fetch, sends the path as it is written. */
function statusOf(server: RunningServer, path: string): Promise<{ status: number | undefined; poweredBy: unknown }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port: server.port, host: "127.0.0.1", method: "POST", path }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, poweredBy: response.headers["x-powered-by"] });
    });
    request.on("error", reject).end("{}");
  });
}

test.each(["/hooks", "/hooks?", "/hooks?a=1&b=/hooks"])("a POST to %s is a delivery", async (path) => {
  const { intake, server } = await startInFrontOfExpress();
  expect(await statusOf(server, path)).toEqual({ status: 200, poweredBy: undefined });
  expect(intake.received.map(({ body }) => body.toString())).toEqual(["{}"]);
});

test.each(["/", "/hooks/", "/hooks2", "/hook", "/Hooks", "/x/hooks", "/hooks/a?b", "/?/hooks"])(
  "a POST to %s goes to the application",
  async (path) => {
    const { intake, server } = await startInFrontOfExpress();
    expect(await statusOf(server, path)).toEqual({ status: 200, poweredBy: "Express" });
    expect(intake.outcomes).toEqual([]);
  },
);

test("the application gets its requests untouched", async () => {
  const { server } = await startInFrontOfExpress();
  const response = await fetch(`${server.url}/api`, {
    method: "POST",
    body: '{"a":1}',
    headers: { "content-type": "application/json" },
  });
  expect(await response.json()).toEqual({ path: "/api", body: { a: 1 } });
});

test.each(["", "hooks", "https://example.com/hooks", "/hooks?a", "/hooks#a"])("the path %j is refused", (path) => {
  const create = () => createListener(createProbeIntake(), { path, next: () => {} });
  expect(create).toThrow(expect.toSatisfy((error: unknown) => isPigeonholeError(error, "invalid_option")));
});
