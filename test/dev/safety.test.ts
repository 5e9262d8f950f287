import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { TEST_SECRET } from "pigeonhole/testing";
import { beforeEach, describe, expect, test } from "vitest";
import type { DevServer } from "#pigeonhole/dev/start-dev-server.js";
import { type Answer, type SendInput, deliver, idsOf, makeDelivery, send, startDev } from "./dev-harness.js";
import { makeFolder } from "../support/folder.js";

let dev: DevServer;
let page: URL;
let origin: string;
let token: string;
let cookie: string;

beforeEach(async () => {
  const pageFolder = join(makeFolder(), "page");
  mkdirSync(join(pageFolder, "assets"), { recursive: true });
  writeFileSync(join(pageFolder, "index.html"), '<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__">');
  writeFileSync(join(pageFolder, "assets/main.js"), "console.log(1)");
  writeFileSync(join(pageFolder, "..", "outside.js"), "secret");
  ({ dev } = await startDev({ pageFolder }));
  page = new URL(dev.pageUrl ?? "");
  origin = page.origin;
  token = page.searchParams.get("t") ?? "";
  const entered = await send(page.href);
  cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
});

function asPage(path: string, { headers, ...input }: Sent = {}): Promise<Answer> {
  return send(`${origin}${path}`, { ...input, headers: { Cookie: cookie, ...headers } });
}

type Sent = Omit<SendInput, "headers"> & { headers?: Record<string, string> };

const OWN = { "Content-Type": "application/json", "X-Pigeonhole": "1" };

/** A change as the page sends it, with these headers beside its own. */
function postAs(headers: Record<string, string>, body: string | Buffer = '{"ids":[]}'): Promise<Answer> {
  return asPage("/api/captures/remove", { method: "POST", headers: { ...OWN, ...headers }, body });
}

/** What is answered to a replay of all captures to this target. */
function replayTo(target: string): Promise<Answer> {
  const body = JSON.stringify({ ids: idsOf(dev), target });
  return asPage("/api/replay", { method: "POST", headers: OWN, body });
}

describe("the page's port", () => {
  test("the page's port listens on 127.0.0.1 and ::1 and nowhere else", async () => {
    expect(await send(origin)).toMatchObject({ status: 401 });
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    if (addresses.some(({ address }) => address === "::1")) {
      expect(await send(`http://[::1]:${page.port}/`)).toMatchObject({ status: 401 });
    }
    const outside = addresses.find(({ internal, family }) => !internal && family === "IPv4");
    if (outside === undefined) return;
    await expect(send(`http://${outside.address}:${page.port}/`)).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe("a Host that does not name this machine", () => {
  test("a request with a Host that does not name this machine is answered 421 before anything else", async () => {
    const named = ["evil.example.com", "localhost.example.com", "127.0.0.1.nip.io", "192.168.0.1"];
    const hosts = [...named.map((name) => `${name}:${page.port}`), `localhost:${Number(page.port) + 1}`];
    for (const path of ["/", "/api/session", "/api/stream", "/api/work", "/assets/main.js", "/nothing"]) {
      for (const host of [...hosts, "evil.example.com", "localhost", ""]) {
        const answer = await asPage(path, { headers: { Host: host } });
        expect([path, host, answer.status]).toEqual([path, host, 421]);
      }
    }
  });

  test("a request with a Host that names this machine is accepted", async () => {
    for (const name of ["localhost", "127.0.0.1", "[::1]", "mail.localhost", "LOCALHOST"]) {
      const answer = await asPage("/api/session", { headers: { Host: `${name}:${page.port}` } });
      expect([name, answer.status]).toEqual([name, 200]);
    }
  });
});

describe("a page of another origin", () => {
  test.each([
    { Origin: "https://evil.example.com" },
    { Origin: "null" },
    { Origin: "http://localhost:3000" },
    { Origin: "http://127.0.0.1" },
    { Origin: "https://localhost" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
  ] as Record<string, string>[])("a page of another origin is refused by %o, also with a cookie", async (headers) => {
    for (const path of ["/api/session", "/api/stream"])
      expect(await asPage(path, { headers })).toMatchObject({ status: 403 });
    expect(await postAs(headers)).toMatchObject({ status: 403 });
  });

  test("a page of another origin gets no CORS header, even for a preflight", async () => {
    const preflight = await send(`${origin}/api/session`, {
      method: "OPTIONS",
      headers: { Origin: "https://evil.example.com", "Access-Control-Request-Method": "POST" },
    });
    const fine = await asPage("/api/session", { headers: { Origin: origin } });
    expect(fine.status).toBe(200);
    for (const { headers } of [preflight, fine]) {
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });
});

describe("the token", () => {
  test("the token of the printed URL is moved into a cookie that scripts and other sites cannot use", async () => {
    const answer = await send(page.href);
    expect(answer).toMatchObject({ status: 303, headers: { location: "/" } });
    const [set = ""] = answer.headers["set-cookie"] ?? [];
    expect(set).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(set).not.toContain(token);
    expect(await asPage("/")).toMatchObject({ status: 200 });
  });

  test.each([
    "/",
    "/?t=wrong",
    "/?t=",
    "/api/session",
    "/api/stream",
    "/api/work",
    "/assets/main.js",
    "/api/session?t=TOKEN",
  ])("a request without the token is refused: %s", async (path) => {
    const answer = await send(`${origin}${path.replace("TOKEN", token)}`);
    expect(answer.status).toBe(401);
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  test("a link with the token works from a page of another site", async () => {
    const headers = { "Sec-Fetch-Site": "cross-site" };
    const answer = await send(page.href, { headers });
    expect(answer).toMatchObject({ status: 200, text: "", headers: { refresh: "0; url=/" } });
    expect(answer.headers["set-cookie"]).toHaveLength(1);
    expect(await send(`${origin}/?t=wrong`, { headers })).toMatchObject({ status: 401 });
  });

  test("the cookie of another run is refused", async () => {
    const [name] = cookie.split("=");
    const headers = { Cookie: `${name}=${"a".repeat(43)}; other=1` };
    expect(await send(`${origin}/api/session`, { headers })).toMatchObject({ status: 401 });
  });

  test("the token is compared in constant time, and only by one function", () => {
    const read = (file: string) => readFileSync(new URL(`../../src/dev/page-port/${file}`, import.meta.url), "utf8");
    expect(read("project-tokens.ts")).toMatch(/return timingSafeEqual\(digest\(given\), digest\(wanted\)\)/);
    expect(read("guard.ts").match(/isSameToken\(/g)).toHaveLength(3);
    expect(read("guard.ts")).not.toMatch(/[=!]== *(?:urlToken|cookieToken)|(?:urlToken|cookieToken) *[=!]==/);
  });

  test("the token is accepted as a bearer token of scripts, which also need the other headers", async () => {
    const headers = { Authorization: `Bearer ${token}` };
    expect(await send(`${origin}/api/session`, { headers })).toMatchObject({ status: 200 });
    const post = await send(`${origin}/api/captures/remove`, { method: "POST", headers, body: "{}" });
    expect(post.status).toBe(415);
    const wrong = { Authorization: `Bearer ${token}x` };
    expect(await send(`${origin}/api/session`, { headers: wrong })).toMatchObject({ status: 401 });
  });

  test("the token and the secret are in no answer", async () => {
    await deliver(dev);
    const [capture] = dev.captures.list();
    for (const path of ["/", "/api/session", "/api/captures", "/api/work", `/api/captures/${capture?.id}`]) {
      const { text, status } = await asPage(path);
      expect(status).toBe(200);
      expect(text).not.toContain(token);
      expect(text).not.toContain(TEST_SECRET);
    }
  });
});

describe("a change", () => {
  test("a change is accepted with JSON and our header", async () => {
    expect(await postAs({})).toMatchObject({ status: 200, text: '{"removed":0}' });
  });

  test.each<[string, Record<string, string>, number]>([
    ["a form's type", { ...OWN, "Content-Type": "application/x-www-form-urlencoded" }, 415],
    ["a plain type", { ...OWN, "Content-Type": "text/plain" }, 415],
    ["no type", { "X-Pigeonhole": "1" }, 415],
    ["no header of ours", { "Content-Type": "application/json" }, 403],
  ])("a change is refused with %s", async (_, headers, status) => {
    expect(await asPage("/api/captures/remove", { method: "POST", headers, body: "{}" })).toMatchObject({ status });
  });

  test("a change as a GET or with another method is refused", async () => {
    expect(await asPage("/api/captures/remove")).toMatchObject({ status: 404 });
    expect(await asPage("/api/replay")).toMatchObject({ status: 405 });
    for (const method of ["PUT", "DELETE", "PATCH"])
      expect(await asPage("/api/session", { method, headers: OWN, body: "{}" })).toMatchObject({ status: 405 });
  });

  test.each([
    ["larger than the cap", Buffer.alloc(7 * 1024 * 1024, 0x20), 413],
    ["no JSON", "{", 400],
    ["a list", "[]", 400],
    ["of another shape", '{"ids":"all"}', 400],
  ])("a change may not be %s", async (_, body, status) => {
    expect(await postAs({}, body)).toMatchObject({ status });
  });
});

describe("the answers of the page's port", () => {
  test.each(["/", "/assets/main.js", "/api/session", "/nothing"])(
    "the answer to %s refuses frames, foreign scripts and sniffing",
    async (path) => {
      const { headers } = await asPage(path);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "content-security-policy": expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/) as string,
      });
      expect(headers["content-security-policy"]).not.toMatch(/unsafe-|https?:|\*/);
      expect(headers["x-powered-by"]).toBeUndefined();
    },
  );

  test("an answer of the page's port has a new nonce for the style sheet, the same in header and page", async () => {
    const [first, second] = [await asPage("/"), await asPage("/")];
    const nonceOf = ({ headers }: Answer): string =>
      /'nonce-([^']+)'/.exec(String(headers["content-security-policy"]))?.[1] ?? "";
    expect(nonceOf(first).length).toBeGreaterThan(20);
    expect(first.text).toContain(`content="${nonceOf(first)}"`);
    expect(nonceOf(second)).not.toBe(nonceOf(first));
  });

  test("a path outside the page's folder is not served", async () => {
    const out = ["/../outside.js", "/assets/../../outside.js", "/%2e%2e/outside.js", "/assets/..%2f..%2foutside.js"];
    for (const path of [...out, "//outside.js"])
      expect([path, (await send(origin, { path, headers: { cookie } })).status]).toEqual([path, 404]);
  });
});

describe("the capture port", () => {
  test("the capture port takes a POST at its path only, and has what is signed and came elsewhere sent again", async () => {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
      expect(await send(dev.captureUrl, { method })).toMatchObject({ status: 405, headers: { allow: "POST" } });
    const { origin: at } = new URL(dev.captureUrl);
    const paths = ["/", "/api/session", "/api/stream", "/index.html", "/assets/main.js", "/webhooks/more", "/captures"];
    for (const path of paths) {
      for (const method of ["GET", "POST"]) {
        const { status, text } = await send(`${at}${path}`, { method, headers: { Cookie: cookie } });
        expect([path, status, text]).toEqual([path, 404, "wrong_path\n"]);
      }
    }
    const { headers, body } = makeDelivery();
    const answer = await send(`${at}/wrong`, { method: "POST", headers, body });
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "60" } });
    expect(dev.captures.size).toBe(0);
  });

  test("the capture port refuses a body over the limit, with or without a length", async () => {
    const { dev: small } = await startDev({ maxBodyBytes: 10 });
    expect(await send(small.captureUrl, { method: "POST", body: "01234567890" })).toMatchObject({ status: 413 });
    const chunked = await fetch(small.captureUrl, {
      method: "POST",
      body: new Blob(["01234567890"]).stream(),
      duplex: "half",
    });
    expect(chunked.status).toBe(413);
    expect(await send(small.captureUrl, { method: "POST", body: "0123456789" })).toMatchObject({ status: 202 });
    expect(small.captures.size).toBe(1);
  });

  test("the capture port takes bodies of 32 MiB at once", async () => {
    const { dev: large } = await startDev({ maxBodyBytes: 100 * 1024 * 1024 });
    const body = Buffer.alloc(20 * 1024 * 1024);
    const unended = [1, 2].map(() => request(large.captureUrl, { method: "POST", headers: { "content-length": 1e8 } }));
    for (const each of unended) each.on("error", () => undefined).write(body);
    const [refused] = await Promise.race(unended.map((each) => once(each, "response")));
    expect((refused as IncomingMessage).statusCode).toBe(503);
    for (const each of unended) each.destroy();
    await expect.poll(() => send(large.captureUrl, { method: "POST", body: "0" })).toMatchObject({ status: 202 });
  });

  test("the capture port refuses headers over the limit", async () => {
    const headers = { "X-Large": "a".repeat(40_000) };
    expect(await send(dev.captureUrl, { method: "POST", headers, body: "{}" })).toMatchObject({ status: 431 });
  });

  test("the capture port shows the sender that a tunnel names, and accepts that only from tunnels of this machine", async () => {
    const { dev: other, events } = await startDev();
    const { headers, body } = makeDelivery();
    const forwarded: [string, string][] = [["X-Forwarded-For", "203.0.113.9, 10.0.0.1"]];
    await send(other.captureUrl, { method: "POST", headers: [...headers, ...forwarded], body });
    await send(other.captureUrl, { method: "POST", headers: { "X-Forwarded-For": "<script>" }, body });
    const froms = events.flatMap((event) => ("from" in event ? [event.from] : []));
    expect(froms).toEqual(["203.0.113.9", "127.0.0.1"]);
  });
});

describe("the target of a replay", () => {
  test("a replay to a remote target, or to a port of the dev server by any name, is refused", async () => {
    await deliver(dev);
    const remote = ["http://8.8.8.8/", "http://169.254.169.254/latest/meta-data", "https://[2001:db8::1]/"];
    const names = "localhost 127.0.0.1 127.1.2.3 [::1] 0.0.0.0 a.localhost 0x7f.1 [::ffff:127.0.0.1]".split(" ");
    const own = [page, new URL(dev.captureUrl)].flatMap(({ port }) => names.map((name) => `http://${name}:${port}/w`));
    for (const [targets, words] of [
      [remote, "--allow-remote"],
      [own, "dev server itself"],
    ] as const)
      for (const target of targets) {
        const { status, text } = await replayTo(target);
        expect([target, status, text]).toEqual([target, 400, expect.stringContaining(words)]);
      }
  });
});
