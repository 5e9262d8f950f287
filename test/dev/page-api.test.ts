import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSqliteStore, DoNotRetry } from "pigeonhole";
import { TEST_SECRET, fakeClock } from "pigeonhole/testing";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";
import { REDACTION_HELP } from "#pigeonhole/capture/redact/redaction-profiles.js";
import type { CaptureDetail } from "#pigeonhole/dev/api/page-api.js";
import { openReceiver, makeEvent, post, untilWork, workOf } from "../support/receiver.js";
import { findFreePort } from "../support/free-port.js";
import { callApi, deliver, idsOf, makeDelivery, send, startApp, startDev } from "./dev-harness.js";
import { makeFolder } from "../support/folder.js";

describe("the session", () => {
  test("the session has the addresses, and only the names of secrets", async () => {
    const { dev } = await startDev({ publicUrl: "https://abc.example.com" });
    const { status, json } = await callApi(dev, "/api/session");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      version: expect.stringMatching(/^\d+\./) as string,
      publicUrl: "https://abc.example.com/webhooks/mail",
      secrets: ["env:WEBHOOK_SECRET"],
      inbox: false,
      sandbox: false,
      captures: 0,
    });
  });

  test("the session gets the public URL from the first genuine delivery through a tunnel", async () => {
    const { dev } = await startDev();
    const forwarded: [string, string][] = [
      ["X-Forwarded-Proto", "https"],
      ["X-Forwarded-Host", "abc.tunnel.example"],
    ];
    const forged = makeDelivery({ secret: `whsec_${"x".repeat(43)}` });
    await deliver(dev, { ...forged, headers: [...forged.headers, ...forwarded] });
    expect(dev.publicUrl).toBeNull();
    const genuine = makeDelivery();
    await deliver(dev, { ...genuine, headers: [...genuine.headers, ...forwarded] });
    expect(dev.publicUrl).toBe("https://abc.tunnel.example/webhooks/mail");
  });
});

describe("captures", () => {
  test("captures are listed newest first, filtered by a search, and limited", async () => {
    const { dev } = await startDev();
    for (const type of ["email.received", "email.bounced", "form.submitted"] as const) {
      await deliver(dev, makeDelivery({ type }));
    }
    const all = (await callApi(dev, "/api/captures")).json as { items: { type: string }[] };
    expect(all).toMatchObject({ total: 3, matched: 3 });
    expect(all.items.map(({ type }) => type)).toEqual(["form.submitted", "email.bounced", "email.received"]);
    const some = await callApi(dev, `/api/captures?query=${encodeURIComponent("type:email.*")}&limit=1`);
    expect(some.json).toMatchObject({ total: 3, matched: 2, items: [{ type: "email.bounced" }] });
    expect(await callApi(dev, "/api/captures?query=colour:red")).toMatchObject({
      status: 400,
      json: { code: "invalid_query", message: expect.stringContaining("colour:red") as string },
    });
    expect(await callApi(dev, "/api/captures?limit=0")).toMatchObject({ status: 400, json: { param: "limit" } });
  });

  const other = `whsec_${"x".repeat(43)}`;
  const bare = (...headers: [string, string][]) => ({ id: "", body: Buffer.from("{}"), headers });

  test.each([
    ["of a genuine one", makeDelivery(), "pass pass pass pass"],
    ["of a stale one", makeDelivery({ at: Date.now() - 400_000 }), "pass pass pass fail"],
    ["with another secret", makeDelivery({ secret: other }), "pass pass fail pass"],
    ["without a header", bare(), "fail skipped skipped skipped"],
    ["without a time", bare(["X-Svc-Signature", "a".repeat(64)]), "pass fail skipped skipped"],
  ])("a capture says at which step the check of a signature fails, and which are not possible: %s", async (...row) => {
    const [, delivery, results] = row;
    const { dev } = await startDev();
    await deliver(dev, delivery);
    const { signature } = (await callApi<CaptureDetail>(dev, `/api/captures/${idsOf(dev)[0]}`)).json;
    expect(signature.checks.map(({ result }) => result).join(" ")).toBe(results);
    if (results.includes("fail")) expect(JSON.stringify(signature.findings)).toMatch(/"fix":"\w/);
  });

  const [MINUTE, HOUR] = [60_000, 3_600_000];
  const waits = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];

  test.each([
    { answers: ["503"], coming: waits },
    { answers: ["503", "429"], coming: waits.slice(1) },
    { answers: ["no answer"], coming: waits },
    { answers: ["503 Retry-After 7200"], coming: [2 * HOUR, ...waits.slice(1)] },
    { answers: ["503 Retry-After 90000"], coming: [6 * HOUR, ...waits.slice(1)] },
    { answers: ["503 Retry-After 5"], coming: waits },
    { answers: Array.from({ length: 8 }, () => "500"), coming: [] },
    { answers: ["503", "200"], coming: [] },
    { answers: ["404"], coming: [] },
  ])("after $answers the service would send the event $coming.length more times", async ({ answers, coming }) => {
    const left = answers.map((answer) => answer.split(" Retry-After "));
    const { url } = await startApp((req, res) => {
      const [status = "", retryAfter] = left.shift() ?? [];
      if (status === "no answer") req.socket.destroy();
      else res.writeHead(Number(status), retryAfter === undefined ? {} : { "retry-after": retryAfter }).end();
    });
    const { dev } = await startDev({ forwards: [{ target: url }] });
    const delivery = makeDelivery();
    for (let n = 0; n < answers.length; n += 1) await deliver(dev, delivery);
    const [last] = dev.captures.list();
    const { retryLine } = (await callApi<CaptureDetail>(dev, `/api/captures/${last?.id}`)).json;
    expect(retryLine.past.map(({ captureId }) => captureId)).toEqual(idsOf(dev).toReversed());
    const { at = "", ms = 0 } = last?.attempts[0] ?? {};
    const times = [Date.parse(at) + ms, ...retryLine.coming.map((time) => Date.parse(time))];
    // A time of the answer has parts of a millisecond.
    expect(retryLine.coming.map((_, index) => Math.round((times[index + 1] ?? 0) - (times[index] ?? 0)))).toEqual(
      coming,
    );
  });

  test("the retry line has the attempts on both sides of a rotation, and nothing that a stranger posted", async () => {
    const { url } = await startApp((_, res) => res.writeHead(503).end());
    const { dev } = await startDev({ forwards: [{ target: url }] });
    const delivery = makeDelivery();
    const { body } = delivery;
    const old = makeDelivery({ body, secret: other });
    const stale = makeDelivery({ body, at: Date.now() - 400_000 });
    const isAttempt = [true, false, true, false, false, true];
    const forged = { headers: old.headers, body: Buffer.concat([body, Buffer.from(" ")]) };
    for (const sent of [old, stale, old, forged, { headers: [] }, delivery])
      await deliver(dev, { ...delivery, ...sent });
    const captures = dev.captures.list().toReversed();
    const verdicts = captures.map(({ verify }) => verify.code);
    expect(verdicts).toEqual(["mismatch", "stale", "mismatch", "mismatch", "missing", "ok"]);
    const attempts = captures.filter((_, index) => isAttempt[index]).map(({ id }) => id);
    for (const id of attempts) {
      const { retryLine } = (await callApi<CaptureDetail>(dev, `/api/captures/${id}`)).json;
      expect(retryLine.past.map(({ captureId }) => captureId)).toEqual(attempts);
      expect(retryLine.coming).toHaveLength(5);
    }
  });

  test("a mark that cannot be written is an error", async () => {
    const cwd = makeFolder();
    const captures = join(cwd, ".pigeonhole", "captures");
    mkdirSync(captures, { recursive: true });
    const request = { body: { encoding: "utf8", data: "{}" } };
    const byHand = JSON.stringify({ v: 1, id: "by-hand", receivedAt: new Date().toISOString(), request });
    // The name has room for a lock and none for the file that is written first.
    writeFileSync(join(captures, `${"a".repeat(245)}.json`), byHand);
    const { dev, kinds } = await startDev({ cwd });
    expect(await callApi(dev, "/api/captures/by-hand/mark", { pinned: true })).toMatchObject({
      status: 503,
      json: { code: "not_written" },
    });
    expect(await callApi(dev, "/api/captures/by-hand")).toMatchObject({ json: { capture: { pinned: false } } });
    expect(kinds()).toContain("problem");
  });
});

describe("exports", () => {
  test("a capture is exported as a cURL command to the app that is signed now and contains no secret", async () => {
    const app = await startApp();
    const { dev } = await startDev({ forwards: [{ target: app.url }] });
    const delivery = makeDelivery({ at: Date.now() - 400_000 });
    await deliver(dev, delivery);
    const [id] = idsOf(dev);
    const curl = (mode: string) => callApi<{ command: string }>(dev, `/api/captures/${id}/curl`, { mode });
    const { command } = (await curl("resign")).json;
    expect(command).toContain(app.url);
    expect(command).not.toContain(TEST_SECRET);
    const signedAt = Number(/t=(\d+),v1=/.exec(command)?.[1]);
    expect(Math.abs(Date.now() / 1000 - signedAt)).toBeLessThan(30);
    const signature = Object.fromEntries(delivery.headers)["x-svc-signature"];
    expect((await curl("exact")).json.command).toContain(signature);
    expect((await curl("odd")).status).toBe(400);
  });

  test.each(["ndjson", "json", "curl"])("a capture is exported as a file: %s", async (as) => {
    const { dev } = await startDev();
    await deliver(dev);
    const ids = idsOf(dev);
    const { status, json } = await callApi<{ name: string; text: string }>(dev, "/api/captures/export", { ids, as });
    expect([status, json.name]).toEqual([200, expect.stringMatching(/^captures\./)]);
    expect(json.text.length).toBeGreaterThan(100);
    expect(json.text).not.toContain(TEST_SECRET);
    expect(await callApi(dev, "/api/captures/export", { ids: ["none"], as })).toMatchObject({ status: 404 });
    // For others by the profile strict, as the help says.
    const shared = await callApi<{ text: string }>(dev, "/api/captures/export", { ids, as: "json", redacted: true });
    expect(JSON.parse(shared.json.text)).toMatchObject([{ redaction: "strict", attempts: [] }]);
    expect(REDACTION_HELP).toContain("strict, as the page's Share saves");
  });
});

describe("a replay", () => {
  test("a replay of a missing capture, or without a target, is an error", async () => {
    const { dev } = await startDev();
    expect(await callApi(dev, "/api/replay", { ids: ["none"] })).toMatchObject({ status: 404 });
    await deliver(dev);
    const ids = idsOf(dev);
    for (const [body, json] of [
      [{ ids }, { message: expect.stringContaining("--forward-to") }],
      [{}, { param: "ids" }],
      [{ ids, mode: "odd" }, { param: "mode" }],
      [{ ids, sameId: "yes" }, { param: "sameId" }],
    ] as const)
      expect(await callApi(dev, "/api/replay", body)).toMatchObject({ status: 400, json });
  });
});

describe("a sample", () => {
  test.each(EVENT_TYPES)("a sample of %s is an envelope with its own id", async (type) => {
    const { dev } = await startDev();
    const read = async () => {
      const { body } = (await callApi<{ body: string }>(dev, `/api/samples/${type}`)).json;
      return JSON.parse(body) as { id: string; type: string };
    };
    const [first, second] = [await read(), await read()];
    expect(first.type).toBe(type);
    expect(second.id).not.toBe(first.id);
  });

  test.each([
    ["a small body", "", "secret_unknown"],
    // Hundreds of MACs over megabytes would keep the page and the app waiting for seconds.
    ["a large body", "x".repeat(300_000), "not_explained"],
  ])("the detail of a mismatch looks for its cause in %s", async (_, text, code) => {
    const { dev } = await startDev();
    await callApi(dev, "/api/send", { body: JSON.stringify({ id: "evt_1", text }), sign: "wrong-secret" });
    const { findings, checks } = (await callApi<CaptureDetail>(dev, `/api/captures/${idsOf(dev)[0]}`)).json.signature;
    expect(findings.map((finding) => finding.code)).toEqual([code]);
    expect(checks.map(({ result }) => result)).toEqual(["pass", "pass", "fail", "pass"]);
    // Only the beginning of a stranger's long body is kept.
    if (code === "not_explained") expect(findings[0]?.fix).toContain("have it sent again");
  });

  test.each([
    ["valid", "ok"],
    ["stale", "stale"],
    ["wrong-secret", "mismatch"],
    ["tampered", "mismatch"],
    ["missing", "missing"],
  ])("a sample is sent to the app with a signature that is %s", async (sign, verdict) => {
    const app = await startApp();
    const { dev } = await startDev({ forwards: [{ target: app.url }] });
    const sample = { body: '{"id":"evt_1","type":"email.sent"}', sign, times: 2 };
    const { json, status } = await callApi(dev, "/api/send", sample);
    expect(status).toBe(200);
    const ids = idsOf(dev);
    expect(json).toMatchObject({ captures: ids.toReversed().map((id) => ({ id, status: 200 })) });
    expect(dev.captures.list()).toMatchObject([
      { source: "trigger", verify: { code: verdict }, attempts: [{ status: 200 }] },
      { source: "trigger" },
    ]);
    expect(app.seen).toHaveLength(2);
    // A receiver does not set its idea of the time by a signature of this machine.
    const isMarked = app.seen.map(({ rawHeaders }) => rawHeaders.includes("x-pigeonhole-signed-here"));
    expect(isMarked).toEqual([sign !== "missing", sign !== "missing"]);
  });

  test("a sample with a correct signature needs a secret", async () => {
    const { dev } = await startDev({ secrets: [] });
    const body = { body: "{}", sign: "valid" };
    expect(await callApi(dev, "/api/send", body)).toMatchObject({ status: 400, json: { code: "invalid_secret" } });
  });
});

describe("the inbox", () => {
  test("the inbox is missing if there is no file", async () => {
    const { dev } = await startDev();
    expect(await callApi(dev, "/api/inbox")).toMatchObject({ status: 404, json: { code: "no_inbox" } });
  });

  test("the inbox shows a receiver's events and retries dead ones", async () => {
    const file = `${makeFolder()}/inbox.db`;
    let isMended = false;
    const clock = fakeClock(Date.now());
    const receiver = openReceiver({ store: createSqliteStore({ file, thread: false }), clock });
    receiver.on("email.sent", () => {
      if (!isMended) throw new DoNotRetry("broken");
    });
    await receiver.start();
    const event = makeEvent();
    await post(receiver, event);
    await untilWork(receiver, event.id, { state: "dead" });

    const { dev } = await startDev({ inbox: file });
    expect((await callApi(dev, "/api/session")).json).toMatchObject({ inbox: true });
    const none = { pending: 0, retrying: 0, running: 0 };
    const counts = { ...none, dead: 1, parked: 0, done: 0, outbox: { ...none, dead: 0 } };
    expect((await callApi(dev, "/api/inbox")).json).toMatchObject(counts);
    const shown = { id: event.id, handlers: [{ error: "DoNotRetry: broken" }] };
    expect((await callApi(dev, "/api/events?state=dead")).json).toMatchObject({ items: [shown], nextCursor: null });
    const row = { id: `inbox:${event.id}`, type: event.type, source: "production", verdict: "ok" };
    const fitting = ["work.state:dead", "work.error:broken", "type:email.* work.handler:email.sent"];
    for (const query of ["", "source:production", ...fitting]) {
      const found = await callApi(dev, `/api/captures?query=${encodeURIComponent(query)}`);
      expect(found.json, query).toMatchObject({ items: [row], works: [{ id: event.id, state: "dead" }] });
    }
    const unfitting = await callApi(dev, "/api/captures?query=work.state:parked");
    expect(unfitting.json).toMatchObject({ items: [], total: 1 });
    for (const refused of ["work.state:lost", "work.since:soon", "-work.state:dead", "work.tenant:a"])
      expect(await callApi(dev, `/api/captures?query=${refused}`), refused).toMatchObject({ status: 400 });
    const only = await callApi(dev, `/api/captures/inbox:${event.id}`);
    expect(only.json).toMatchObject({ capture: { request: { body: { data: JSON.stringify(event) } } } });
    const detail = await callApi(dev, `/api/events/${event.id}`);
    expect(detail.json).toMatchObject({ handlers: [{ state: "dead" }], payload: { canUnveil: true } });
    isMended = true;
    expect(await callApi(dev, `/api/events/${event.id}/retry`, {})).toMatchObject({ json: { changed: 1 } });
    await expect
      .poll(() => clock.advance(1_000).then(() => workOf(receiver, event.id)))
      .toMatchObject({ state: "done" });
    expect(await callApi(dev, "/api/outbox")).toMatchObject({ json: { items: [] } });
  });

  test("a file that is not an inbox stops the start of the dev server, and nothing keeps running", async () => {
    const port = await findFreePort();
    await expect(startDev({ inbox: "missing.db", port })).rejects.toThrow(/There is no file/);
    await expect(send(`http://127.0.0.1:${port}/`)).rejects.toThrow(/ECONNREFUSED/);
  });
});
