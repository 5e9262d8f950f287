import { request as httpRequest } from "node:http";
import express from "express";
import { describe, expect, test } from "vitest";
import { isPigeonholeError } from "#pigeonhole/base/error.js";
import { createListener, createMiddleware } from "#pigeonhole/http/node-mount.js";
import { serve, type RunningServer } from "../support/mounts.js";
import { createProbe } from "../support/probe.js";
import { type RawClient, connect } from "../support/raw-client.js";

async function startInFrontOfExpress() {
  const probe = await createProbe();
  const app = express();
  app.use(express.json());
  app.use((req, res) => void res.json({ path: req.path, body: req.body ?? null }));
  const server = await serve(
    createListener(createMiddleware(probe.handle, probe.clock), { path: "/hooks", next: app }),
  );
  return { probe, server };
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

test.each(["/hooks", "/hooks/", "/Hooks", "/hooks?", "/hooks?a=1&b=/hooks"])(
  "the listener takes a POST to %s as a delivery",
  async (path) => {
    const { probe, server } = await startInFrontOfExpress();
    expect(await statusOf(server, path)).toEqual({ status: 200, poweredBy: undefined });
    expect(probe.received.map(({ body }) => body.toString())).toEqual(["{}"]);
  },
);

test.each(["/", "/hooks//", "/hooks2", "/hook", "/%68ooks", "/x/hooks", "/hooks/a?b", "/?/hooks"])(
  "the listener passes a POST to %s to the application",
  async (path) => {
    const { probe, server } = await startInFrontOfExpress();
    expect(await statusOf(server, path)).toEqual({ status: 200, poweredBy: "Express" });
    expect(probe.outcomes).toEqual([]);
  },
);

test("the listener passes requests to the application unchanged", async () => {
  const { server } = await startInFrontOfExpress();
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
    const whole = [...spellings, ...near, ...encoded].flatMap((target) => [
      target,
      `http://mail.example${target}`,
      `HTTPS://a:b@[::1]:8443${target}`,
    ]);
    return [
      ...whole.flatMap((target) => [target, `${target}?`, `${target}?q=/x/`, `${target}#f`]),
      "*",
      "http://h",
      "http://h?q",
    ];
  };

  test.each(["/hooks", "/hooks/", "/Hooks/Mail", "/", "/a//b", "//hooks", "/caf%C3%A9", "/a.b", "/a$b,c;d=e@f&g~h_-"])(
    "Express with the same path decides in the same way about %s",
    async (path) => {
      const probe = await createProbe();
      const app = express().post(path, (_req, res) => void res.sendStatus(200));
      const behind = await serve(app);
      const inFront = await serve(
        createListener(createMiddleware(probe.handle, probe.clock), { path, next: express() }),
      );
      const asked = targets(path).filter((each) => /^(?:\/|h|\*)/i.test(each));
      const [expected, ours] = await Promise.all([behind, inFront].map((server) => sendAll(server, asked)));
      expect(ours).toEqual(expected);
      const hits = expected?.filter((line) => line.startsWith("200")).length ?? 0;
      expect(hits).toBeGreaterThan(20);
      expect(asked.length - hits).toBeGreaterThan(60);
      expect(probe.received).toHaveLength(hits);
    },
  );
});

test.each([
  ["/a'b", "/a'b", 200],
  ["/a'b", "http://h/a'b", 404],
  ["/a'b", "http://h/a%27b", 404],
  ["/a%27b", "/a'b", 404],
  ["/a%27b", "http://h/a'b", 200],
  ["/a%27b", "http://h/a%27b/", 200],
])("an apostrophe: of %s, the target %s is answered %i, as by Express", async (path, target, status) => {
  const probe = await createProbe();
  const behind = await serve(express().post(path, (_req, res) => void res.sendStatus(200)));
  const inFront = await serve(createListener(createMiddleware(probe.handle, probe.clock), { path, next: express() }));
  expect([await createSender(behind)(target), await createSender(inFront)(target)]).toEqual([status, status]);
});

describe("a request target in full", () => {
  const AS_EXPRESS = [
    ["http:///hooks", 200],
    ["http://:80/hooks", 200],
    ["http://@/hooks", 200],
    ["http://h:/hooks?a", 200],
    ["http://u%40x:p%2Fq@h:80/hooks", 200],
    ["http://u!$&*+,;=:p@h/hooks#b", 200],
    ["http://a@b@h/hooks", 200],
    ["http://h!$*+,=()~_x/hooks", 200],
    ["http://xn--bcher-kva.example/hooks", 200],
    ["ws://h/hooks", 200],
    ["wss://h/hooks", 200],
    ["ftp://h/hooks", 200],
    ["foo://h/hooks", 200],
    ["file:///hooks", 200],
    ["http://h/hooks\\", 200],
    ["http://h\\hooks", 400],
    ["http://hooks", 404],
    ["http://hooks/", 404],
    ["http:////hooks", 404],
    ["http://?/hooks", 404],
    ["//h/hooks", 404],
    ["http:/hooks", 400],
    ["h:/hooks", 400],
    ["http:// h/hooks", 400],
  ] as const;
  /** Node's parser of URLs gives up on these, and an application behind would answer 404, which is final. */
  const MORE_THAN_EXPRESS = ["http://h:abc/hooks", "http://h;x/hooks", "http://h'/hooks", "http://h%20x/hooks"];

  test.each([
    ...AS_EXPRESS.map(([target, status]) => [target, status, status] as const),
    ...MORE_THAN_EXPRESS.map((target) => [target, 404, 200] as const),
  ])(
    "a POST to the absolute target %s is answered %i by Express and %i by the listener",
    async (target, byExpress, byListener) => {
      const probe = await createProbe();
      const behind = await serve(express().post("/hooks", (_req, res) => void res.sendStatus(200)));
      const inFront = await serve(
        createListener(createMiddleware(probe.handle, probe.clock), { path: "/hooks", next: express() }),
      );
      expect([await createSender(behind)(target), await createSender(inFront)(target)]).toEqual([
        byExpress,
        byListener,
      ]);
      expect(probe.received).toHaveLength(byListener === 200 ? 1 : 0);
    },
  );
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
