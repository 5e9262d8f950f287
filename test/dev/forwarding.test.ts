import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { TEST_SECRET } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { deliver, idsOf, makeDelivery, send, startApp, startDev } from "./dev-harness.js";
import { findFreePort } from "../support/free-port.js";
import { listen } from "../support/listen.js";

describe("a forwarded delivery", () => {
  test("a forwarded delivery reaches the app with its bytes, and with its header list in order, case and number", async () => {
    const app = await startApp();
    const { dev } = await startDev({ forwards: [{ target: String(app.port) }] });
    const body = Buffer.from([0, 255, 10, 13, 0x7b, 0xc3, 0x28, 226, 130, 172]);
    const headers: [string, string][] = [
      ["Host", "receiver.example.com"],
      ["X-Dup", "one"],
      ["content-TYPE", "application/octet-stream"],
      ["X-Dup", "two"],
      ["X-Svc-Signature", "t=1,v1=00"],
      ["Content-Length", String(body.length)],
    ];
    await send(`${dev.captureUrl}?try=1&x=%20`, { method: "POST", headers, body });
    expect(app.seen).toHaveLength(1);
    expect(app.seen[0]?.body.equals(body)).toBe(true);
    expect(app.seen[0]?.url).toBe("/webhooks/mail?try=1&x=%20");
    const seen = app.seen[0]?.rawHeaders ?? [];
    const pairs = seen.flatMap((name, index) => (index % 2 === 0 ? [[name, seen[index + 1]]] : []));
    expect(pairs.filter(([name]) => name?.toLowerCase() !== "connection")).toEqual(headers);
  });

  test("a forwarded delivery keeps thousands of headers", async () => {
    const seen: number[] = [];
    const app = createServer((req, res) => {
      seen.push(req.rawHeaders.length / 2);
      res.end();
    });
    app.maxHeadersCount = 0;
    const port = await listen(app);
    onTestFinished(() => void app.close());
    const { dev } = await startDev({ forwards: [{ target: String(port) }] });
    const { body, headers } = makeDelivery();
    const many = Array.from({ length: 3_000 }, (_, index): [string, string] => ["a", String(index % 10)]);
    const length: [string, string] = ["Content-Length", String(body.length)];
    const own: [string, string][] = [["Host", "a"], ...many, ...headers, length, ["Connection", "close"]];
    await send(dev.captureUrl, { method: "POST", headers: own, body });
    const [capture] = dev.captures.list();
    expect(capture?.request.headers).toEqual(own);
    expect(capture?.verify.code).toBe("ok");
    expect(seen).toEqual([own.length]);
  });

  test("of a stranger's long body the app receives all, and the first part is kept", async () => {
    const app = await startApp();
    const { dev } = await startDev({ forwards: [{ types: "email.*", target: app.url }] });
    const text = JSON.stringify({ type: "email.sent", text: "a".repeat(300_000) });
    const foreign = { secret: "whsec_other", body: text };
    expect(await deliver(dev, makeDelivery(foreign))).toMatchObject({ status: 200 });
    expect(app.seen[0]?.body.toString()).toBe(text);
    const [cut] = dev.captures.list();
    const verify = { code: "mismatch" };
    expect(cut).toMatchObject({ tags: ["cut"], event: { type: "email.sent" }, verify, attempts: [{ status: 200 }] });
    expect(text.startsWith(cut?.request.body.data ?? "no")).toBe(true);
    expect(cut?.request.body.data.length).toBe(256 * 1024);
    // Without a forward nobody has all of it; of a genuine one, and where no secret is known, the folder has.
    const unforwarded = text.replace("email", "other");
    expect(await deliver(dev, makeDelivery({ ...foreign, body: unforwarded }))).toMatchObject({ status: 503 });
    expect(await deliver(dev, makeDelivery({ body: unforwarded }))).toMatchObject({ status: 202 });
    const { dev: unknowing } = await startDev({ secrets: [] });
    expect(await deliver(unknowing, makeDelivery(foreign))).toMatchObject({ status: 202 });
    for (const { captures } of [dev, unknowing])
      expect(captures.list()[0]).toMatchObject({ tags: [], request: { body: { data: expect.stringMatching(/}$/) } } });
  });

  test("the app's status, headers and body are the answer to a forwarded delivery", async () => {
    const app = await startApp((_, res) => {
      res.writeHead(418, ["Set-Cookie", "a=1", "X-From", "app", "Set-Cookie", "b=2", "Content-Type", "text/x-tea"]);
      res.end("short and stout");
    });
    const { dev } = await startDev({ forwards: [{ target: app.url }] });
    const answer = await deliver(dev);
    const headers = { "x-from": "app", "set-cookie": ["a=1", "b=2"], "content-type": "text/x-tea" };
    expect(answer).toMatchObject({ status: 418, text: "short and stout", headers });
  });

  test("the capture of a forwarded delivery has the attempt and the answer", async () => {
    const app = await startApp((_, res) => void res.writeHead(500).end('{"error":"no"}'));
    const { dev } = await startDev({ forwards: [{ target: app.url }] });
    const delivery = makeDelivery();
    await deliver(dev, delivery);
    const [capture] = dev.captures.list();
    expect(capture).toMatchObject({
      event: { id: delivery.id, type: "email.received" },
      verify: { code: "ok", secretRef: "env:WEBHOOK_SECRET" },
      source: "live",
      request: { body: { encoding: "utf8", data: delivery.body.toString() } },
      attempts: [{ n: 1, kind: "forward", mode: "exact", status: 500, body: { data: '{"error":"no"}' } }],
    });
    expect(JSON.stringify(capture)).not.toContain(TEST_SECRET);
  });
});

describe("the source of a capture", () => {
  test.each([
    ["pigeonhole-sandbox", "sandbox"],
    ["pigeonhole-trigger", "trigger"],
    ["curl/8", "live"],
  ])("the source of a capture made by %s is %s, and always live through a tunnel", async (agent, source) => {
    const { dev } = await startDev();
    const { headers, body } = makeDelivery();
    const direct: [string, string][] = [...headers, ["User-Agent", agent]];
    await send(dev.captureUrl, { method: "POST", headers: direct, body });
    await send(dev.captureUrl, { method: "POST", headers: [...direct, ["X-Forwarded-For", "203.0.113.9"]], body });
    expect(dev.captures.list().map((capture) => capture.source)).toEqual(["live", source]);
  });
});

describe("forwards by type", () => {
  test("a delivery goes to the first forward for its type, and one without a forward is only captured", async () => {
    const [opened, emails] = [await startApp(), await startApp()];
    const { dev, kinds } = await startDev({
      forwards: [
        { types: "email.opened,email.clicked", target: `${opened.url}/opened` },
        { types: "email.*", target: emails.url },
      ],
    });
    const types = ["email.clicked", "email.bounced", "domain.verified"] as const;
    for (const type of types) await deliver(dev, makeDelivery({ type }));
    expect(opened.seen.map(({ url }) => url)).toEqual(["/opened"]);
    expect(emails.seen.map(({ url }) => url)).toEqual(["/webhooks/mail"]);
    expect(kinds()).toEqual(["ready", "forwarded", "forwarded", "received"]);
  });

  test("a delivery without a readable type goes only to the forward for *", async () => {
    const [emails, all] = [await startApp(), await startApp()];
    const { dev } = await startDev({ forwards: [{ types: "email.*", target: emails.url }, { target: all.url }] });
    await deliver(dev, makeDelivery({ body: "not json" }));
    expect([emails.seen.length, all.seen.length]).toEqual([0, 1]);
  });

  test("a type that is not wanted is not forwarded", async () => {
    const app = await startApp();
    const { dev } = await startDev({ forwards: [{ target: app.url }], events: "form.*" });
    expect(await deliver(dev)).toMatchObject({ status: 202 });
    expect(app.seen).toHaveLength(0);
  });

  test.each([
    [{ forwards: [{ target: "http://8.8.8.8/" }] }, /--allow-remote/],
    [{ forwards: [{ target: "3000" }, { types: "email.*", target: "3001" }] }, /never get a delivery/],
    [{ forwards: [{ types: "email*received!", target: "3000" }] }, /not an event type/],
    [{ forwards: [{ target: "ftp://x" }] }, /not a target/],
    [{ path: "webhooks" }, /path must start/],
  ])("the forwards %o are refused at the start", async (options, message) => {
    await expect(startDev(options)).rejects.toThrow(message);
  });

  test("a forward to the dev server itself is refused", async () => {
    const { dev } = await startDev();
    const { port } = new URL(dev.captureUrl);
    await expect(dev.replay({ ids: [], target: `localhost:${port}` })).rejects.toThrow(/dev server itself/);
    await dev.close();
    await expect(startDev({ port: Number(port), forwards: [{ target: port }] })).rejects.toThrow(/dev server itself/);
  });
});

describe("a delivery that is not forwarded", () => {
  test("a delivery that is not forwarded is answered 202 with its capture's id, once it is on disk", async () => {
    const { dev } = await startDev();
    const answer = await deliver(dev);
    expect(answer.status).toBe(202);
    expect(dev.captures.list()[0]?.id).toBe(answer.headers["x-pigeonhole-capture"]);
  });

  test("a delivery that is neither forwarded nor written to disk is answered 503", async () => {
    const { dev, folder, kinds } = await startDev();
    rmSync(`${folder}/.pigeonhole`, { recursive: true });
    writeFileSync(`${folder}/.pigeonhole`, "");
    expect(await deliver(dev)).toMatchObject({ status: 503 });
    expect(kinds()).toEqual(["ready", "problem", "received"]);
  });
});

describe("an app that is down", () => {
  test("a delivery to an app that is down is answered 503 with Retry-After, and its capture says why", async () => {
    const port = String(await findFreePort());
    const { dev, kinds } = await startDev({ forwards: [{ target: port }] });
    const answer = await deliver(dev);
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    expect(answer.text).not.toContain(port);
    const refused = { status: null, error: expect.stringContaining("listens") as string };
    expect(dev.captures.list()[0]?.attempts).toMatchObject([refused]);
    expect(kinds()).toEqual(["ready", "app_down"]);
  });

  test("an app that does not answer in time counts as down", async () => {
    const app = await startApp(() => undefined);
    const { dev } = await startDev({ forwards: [{ target: app.url }], timeoutMs: 50 });
    expect(await deliver(dev)).toMatchObject({ status: 503 });
  });
});

describe("headers of the options", () => {
  test("a configured header replaces captured ones of the same name, in forwards and replays", async () => {
    const app = await startApp();
    const headers: [string, string][] = Object.entries({ "X-Tenant": "one", "x-trace": "mine" });
    const { dev } = await startDev({ forwards: [{ target: app.url }], headers });
    const delivery = makeDelivery();
    await deliver(dev, { ...delivery, headers: [...delivery.headers, ["X-Trace", "theirs"]] });
    await dev.replay({ ids: idsOf(dev) });
    const sent = app.seen.map(({ rawHeaders }) => rawHeaders.join(" "));
    expect(sent).toHaveLength(2);
    for (const text of sent) expect(text).toMatch(/^(?!.*theirs)(?=.*X-Tenant one).*x-trace mine/);
  });
});
