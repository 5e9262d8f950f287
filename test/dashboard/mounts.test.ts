import type http from "node:http";
import { createRequire } from "node:module";
import { getRequestListener } from "@hono/node-server";
import express, { type RequestHandler } from "express";
import { Hono } from "hono";
import { createDashboard, type Dashboard } from "pigeonhole/dashboard";
import { describe, expect, onTestFinished, test } from "vitest";
import { PERSON_HEADER, type PageSession } from "#pigeonhole/web/api/session.js";
import { openReceiver } from "../support/receiver.js";
import { serve } from "../support/serve.js";
import { send } from "../dev/dev-harness.js";
import { OPERATOR } from "./dashboard-client.js";

// Express 4 under another name, without types of its own; what the tests use did not change.
const express4: typeof express = createRequire(import.meta.url)("express4");

const PATH = "/ops/webhooks";

const behind = (parser: RequestHandler) => express().use(parser);

/** Ways to mount a dashboard under a path. */
const MOUNTS: readonly { name: string; mount: (open: (path?: string) => Dashboard) => http.RequestListener }[] = [
  { name: "Express 5", mount: (open) => express().use(PATH, open()) },
  { name: "Express 4", mount: (open) => express4().use(PATH, open()) },
  { name: "Express behind a JSON parser", mount: (open) => behind(express.json()).use(PATH, open()) },
  { name: "Express behind a parser of bytes", mount: (open) => behind(express.raw({ type: "*/*" })).use(PATH, open()) },
  { name: "a router in a router", mount: (open) => express().use("/ops", express.Router().use("/webhooks", open())) },
  { name: "node:http", mount: (open) => open(PATH) },
  { name: "Express with the path as an option", mount: (open) => express().use(open(PATH)) },
  {
    name: "Hono",
    mount(open) {
      const { fetch } = open(PATH);
      const app = new Hono()
        .all(`${PATH}/*`, (context) => fetch(context.req.raw))
        .all(PATH, (context) => fetch(context.req.raw));
      const listener = getRequestListener(app.fetch);
      return (req, res) => void listener(req, res);
    },
  },
];

/** Hosts that redirect away a slash at the end of a path, as Next.js does, or its lack. */
const SLASH_RULES: readonly { name: string; redirect: (url: string) => string | undefined }[] = [
  { name: "removes a slash at the end", redirect: (url) => redirectTo(url, /\/(?=$|\?)/, "") },
  { name: "adds a slash at the end", redirect: (url) => redirectTo(url, /(?<=^[^?]*\/[^/.?]+)(?=$|\?)/, "/") },
];

function redirectTo(url: string, found: RegExp, end: string): string | undefined {
  const location = url.replace(found, end);
  return location === url ? undefined : location;
}

async function startServer(mount: (typeof MOUNTS)[number]["mount"]) {
  const receiver = openReceiver();
  await receiver.start();
  const server = await serve(mount((path) => createDashboard<unknown>(receiver, { allow: () => OPERATOR, path })));
  onTestFinished(() => server.close());
  const readSession = async () => {
    const answer = await fetch(`${server.url}${PATH}/api/session`);
    expect(answer.status).toBe(200);
    return (await answer.json()) as PageSession;
  };
  /** Sends an action as the page does. */
  const act = (body: unknown, headers: Record<string, string> = { "sec-fetch-site": "same-origin" }) =>
    fetch(`${server.url}${PATH}/api/outbox/retry`, {
      method: "POST",
      headers: { "content-type": "application/json", [PERSON_HEADER]: OPERATOR.name, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...server, readSession, act };
}

describe.each(MOUNTS)("mounted on $name", ({ mount }) => {
  test("the page, its API and its actions are under the path", async () => {
    const { url, readSession, act } = await startServer(mount);
    const bare = await fetch(`${url}${PATH}?range=7d`, { redirect: "manual" });
    expect([bare.status, bare.headers.get("location")]).toEqual([302, "./webhooks/index.html?range=7d"]);
    const page = await fetch(`${url}${PATH}/`);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("x-powered-by")).toBeNull();
    expect((await readSession()).name).toBe("ann");
    const answer = await act({ ids: ["missing"] });
    expect([answer.status, await answer.json()]).toEqual([200, { changed: 0, failed: 1 }]);
  });

  test.each(SLASH_RULES)("the page opens where the host $name", async ({ redirect }) => {
    const { url } = await startServer((open) => {
      const next = mount(open);
      return (req, res) => {
        const location = redirect(req.url ?? "");
        if (location === undefined) return next(req, res);
        res.writeHead(308, { location }).end();
      };
    });
    for (const end of ["", "/"]) {
      const page = await fetch(`${url}${PATH}${end}?range=7d`);
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(new URL(page.url).search).toBe("?range=7d");
      const [, script] = /src="([^"]+)"/.exec(await page.text()) ?? [];
      expect((await fetch(new URL(script ?? "", page.url))).headers.get("content-type")).toContain("text/javascript");
      expect((await fetch(new URL("api/session", page.url))).status).toBe(200);
    }
  });

  test("an action of an old browser is compared with the host that it asked for", async () => {
    const { port, act } = await startServer(mount);
    const actFrom = (origin: string) => act({ ids: [] }, { origin, "sec-fetch-site": "none" });
    expect((await actFrom(`http://127.0.0.1:${port}`)).status).toBe(200);
    expect((await actFrom("http://evil.example")).status).toBe(403);
  });

  test("what is large or no JSON is refused, and the connection goes on", async () => {
    const { act } = await startServer(mount);
    expect((await act("{")).status).toBe(400);
    expect((await act({ ids: ["x".repeat(400_000)] })).status).toBe(413);
    expect((await act({ ids: [] })).status).toBe(200);
  });

  test("no path below it leads elsewhere", async () => {
    const { url } = await startServer(mount);
    const files = ["/../package.json", "/..%2fpackage.json", "/assets/..%2f..%2fdashboard.js", "/index.html%00"];
    const others = ["/assets/../../dashboard.js", "//evil.example", "/\\evil", "/api/../index.htm", "/api//events"];
    for (const path of [...files, ...others, "/api/events/%", "/api/events/a/b/c"]) {
      const { status, headers } = await send(url, { path: PATH + path });
      // What is no URL at all does not reach the dashboard on some servers.
      expect([path, status === 404 || status === 400]).toEqual([path, true]);
      expect(headers.location).toBeUndefined();
    }
  });

  test("a forged host is in no answer", async () => {
    const { url } = await startServer(mount);
    for (const path of [PATH, `${PATH}/`, `${PATH}/api/session`]) {
      const { text, headers } = await send(url, { path, headers: { host: "evil.example" } });
      expect(text + (headers.location ?? "")).not.toContain("evil");
    }
  });
});

test("requests beside the path go to what comes next, or nowhere", async () => {
  const app = ({ open }: { open: (path?: string) => Dashboard }): http.RequestListener =>
    express()
      .use(open(PATH))
      .use((_, res) => void res.send("next"));
  const behind = await startServer((open) => app({ open }));
  expect(await (await fetch(`${behind.url}/ops/webhooksx`)).text()).toBe("next");
  const alone = await startServer((open) => open(PATH));
  expect((await fetch(`${alone.url}/ops`)).status).toBe(404);
});
