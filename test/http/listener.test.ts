import express from "express";
import { describe, expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import { type NodeListener, createListener, createMiddleware } from "#pigeonhole/http/node-mount.js";
import { serve, type RunningServer } from "../support/serve.js";
import { createProbe } from "../support/probe.js";
import { type RawClient, connect } from "../support/raw-client.js";

/** A listener in front of the application, and what it took. */
async function serveInFrontOf(next: NodeListener, path: string) {
  const { handle, clock, received } = await createProbe();
  return { received, inFront: await serve(createListener(createMiddleware(handle, clock), { path, next })) };
}

test("the listener passes requests to the application unchanged", async () => {
  const app = express().use(express.json());
  app.use((req, res) => void res.json({ path: req.path, body: req.body ?? null }));
  const { inFront: server } = await serveInFrontOf(app, "/hooks");
  const response = await fetch(`${server.url}/api`, {
    method: "POST",
    body: '{"a":1}',
    headers: { "content-type": "application/json" },
  });
  expect(await response.json()).toEqual({ path: "/api", body: { a: 1 } });
});

const isInvalidOption = expect.toSatisfy((error: unknown) => isPigeonholeError(error, "invalid_option"));

test.each([
  "",
  "hooks",
  "https://example.com/hooks",
  "/hooks?a",
  "/hooks#a",
  "/hooks/:id",
  "/hooks*",
  "/hooks{/x}",
  "/ho(ok)s",
  "/a b",
  "/café",
  "/a\nb",
  '/a"b',
  "/a\\b",
  "/a/../b",
  "/./b",
  "/b/%2E%2e",
  "/hooks//",
  "//",
  null,
  undefined,
  /hooks/,
])("the listener refuses the path %j", (path) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JavaScript callers can pass
  const create = () => createListener(() => undefined, { path: path as string, next: () => {} });
  expect(create).toThrow(isInvalidOption);
});

test("the listener refuses a value that cannot serve the other paths", () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JavaScript callers can pass
  const next = {} as () => void;
  expect(() => createListener(() => undefined, { path: "/hooks", next })).toThrow(isInvalidOption);
});

describe("the path in Express", () => {
  const targets = (path: string): string[] => {
    const bare = path.replace(/(?<=.)\/$/, "");
    const spellings = [path, bare, `${bare}/`, `${bare}//`, path.toUpperCase(), path.toLowerCase(), `/${path}`];
    const near = [`${bare}/x`, `${bare}x`, `${path};a`, `${path}%2F`, `/x${path}`, bare.slice(0, -1), "/", "//"];
    const encoded = [`/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`, `/.${path}`, `/a/..${path}`];
    const whole = [...spellings, ...near, ...encoded];
    return [...whole.flatMap((target) => [target, `${target}?`, `${target}?q=/x/`, `${target}#f`]), "*"];
  };

  test.each(["/hooks", "/hooks/", "/Hooks/Mail", "/", "/a//b", "//hooks", "/caf%C3%A9", "/a.b", "/a$b,c;d=e@f&g~h_-"])(
    "Express with the same path decides in the same way about %s",
    async (path) => {
      const behind = await serve(express().post(path, (_req, res) => void res.sendStatus(200)));
      const { inFront, received } = await serveInFrontOf(express(), path);
      const asked = targets(path).filter((each) => /^[/*]/.test(each));
      const [expected, ours] = await Promise.all([behind, inFront].map((server) => sendAll(server, asked)));
      expect(ours).toEqual(expected);
      const hits = expected?.filter((line) => line.startsWith("200")).length ?? 0;
      expect(hits).toBeGreaterThan(10);
      expect(asked.length - hits).toBeGreaterThan(20);
      expect(received).toHaveLength(hits);
    },
  );

  test.each([
    ["http://mail.example/hooks", 200],
    ["HTTPS://a:b@[::1]:8443/Hooks/?q", 200],
    // An application behind would answer 404, which is final.
    ["http://h:abc/hooks", 200],
    ["http://hooks", 404],
    ["http://h/hooks/x", 404],
  ])("a POST to the target %s, which names a host, is answered %i", async (target, status) => {
    const { inFront } = await serveInFrontOf(express(), "/hooks");
    expect(await createSender(inFront)(target)).toBe(status);
  });
});

const postTo = (target: string): string => `POST ${target} HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n`;

/** Sends POSTs to the targets, one after the other: a server may close the connection after one of them. */
async function sendAll(server: RunningServer, targets: readonly string[]): Promise<string[]> {
  const send = createSender(server);
  const answers: string[] = [];
  for (const target of targets) answers.push(`${await send(target)} ${target}`);
  return answers;
}

/** Sends POSTs to the targets given, over a connection that is kept for as long as the server keeps it. */
function createSender(server: RunningServer): (target: string) => Promise<number> {
  let client: RawClient | undefined;
  return async (target) => {
    client ??= await connect(server.port);
    client.write(postTo(target));
    const { status, headers } = await client.answer();
    if (headers["connection"] === "close") {
      client.destroy();
      client = undefined;
    }
    return status;
  };
}

test("a response that is not Node's is refused with what to do, and the handler is not called", async () => {
  const probe = await createProbe();
  const middleware = createMiddleware(() => Promise.reject(new Error("called")), probe.clock) as (
    req: object,
    res: object,
  ) => void;
  // A reply of Fastify, and what Koa and Hono pass as the second argument.
  for (const response of [{ raw: {}, send() {}, status() {} }, () => Promise.resolve()]) {
    expect(() => middleware({ headers: {} }, response)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringMatching(/^[^.]*mounting\.md[^.]*\.$/),
      }),
    );
  }
});
