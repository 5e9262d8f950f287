import http from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { systemClock } from "#pigeonhole/base/clock.js";
import { fakeClock } from "pigeonhole/testing";
import { mounts } from "../support/mounts.js";
import type { RunningServer } from "../support/serve.js";
import { createProbe, LIMIT, type Probe, type ProbeRules } from "../support/probe.js";
import { connect, head, type RawClient } from "../support/raw-client.js";

describe.each(mounts)("a delivery over $name", (mount) => {
  async function start(rules?: ProbeRules): Promise<{ probe: Probe; server: RunningServer; url: string }> {
    const probe = await createProbe(rules);
    const server = await mount.start(probe);
    return { probe, server, url: `${server.url}/hooks` };
  }

  async function startRaw(rules?: ProbeRules): Promise<{ probe: Probe; client: RawClient }> {
    const { probe, server } = await start(rules);
    return { probe, client: await connect(server.port) };
  }

  test("a delivery reaches the receiver byte for byte and is answered without extras", async () => {
    const { probe, url } = await start();
    const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
    const response = await fetch(url, { method: "POST", body: everyByte, headers: { "x-svc-signature": "t=1,v1=ab" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-pigeonhole-outcome")).toBe("parked");
    expect(await response.text()).toBe("");
    expect(response.headers.get("content-type")).toBeNull();
    expect(probe.received).toEqual([{ body: Buffer.from(everyByte), signature: "t=1,v1=ab" }]);
    expect(probe.outcomes).toEqual(["parked"]);
    for (const extra of ["etag", "x-powered-by"]) expect(response.headers.has(extra)).toBe(false);
  });

  test("a delivery may have an empty body", async () => {
    const { probe, url } = await start();
    expect((await fetch(url, { method: "POST" })).status).toBe(200);
    expect(probe.received[0]?.body).toEqual(Buffer.alloc(0));
  });

  test.each(["GET", "HEAD", "PUT", "OPTIONS"])("a request by %s is answered 405", async (method) => {
    const { probe, url } = await start();
    const response = await fetch(url, { method, ...(method === "PUT" && { body: "{}" }) });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    expect(await response.text()).toBe(method === "HEAD" ? "" : "wrong_method");
    expect(probe.received).toEqual([]);
  });

  test("a delivery that is encoded is answered 415", async () => {
    const { url } = await start();
    const response = await fetch(url, { method: "POST", body: "{}", headers: { "content-encoding": "gzip" } });
    expect(response.status).toBe(415);
  });

  test("a delivery with an empty content-encoding is accepted", async () => {
    const { client } = await startRaw();
    client.write(`${head("content-length: 2", "content-encoding:")}{}`);
    expect((await client.answer()).status).toBe(200);
    client.destroy();
  });

  test.each([
    ["of the limit", LIMIT, 200],
    ["one byte over the limit", LIMIT + 1, 413],
  ])("a delivery with a body %s is answered", async (_, length, status) => {
    const { probe, url } = await start();
    const response = await fetch(url, { method: "POST", body: Buffer.alloc(length) });
    expect(response.status).toBe(status);
    expect(probe.received).toHaveLength(status === 200 ? 1 : 0);
  });

  test("a delivery that announces too many bytes is answered 413 before any of them came", async () => {
    const { client } = await startRaw();
    client.write(head(`content-length: ${LIMIT + 1}`));
    expect(await client.answer()).toMatchObject({ status: 413, body: "too_large" });
  });

  test("a delivery without a length is answered 413 once it exceeds the limit", async () => {
    const { probe, client } = await startRaw();
    client.write(head("transfer-encoding: chunked"));
    client.write(`${LIMIT.toString(16)}\r\n${"a".repeat(LIMIT)}\r\n`);
    await wait(20);
    expect(probe.outcomes).toEqual([]);
    client.write("1\r\na\r\n");
    expect(await client.answer()).toMatchObject({ status: 413, body: "too_large" });
  });

  test("a sender of a body far over the limit reads 413 even if it reads only after sending", async () => {
    const { client } = await startRaw();
    const length = 4_000_000;
    client.stopReading();
    client.write(head(`content-length: ${length}`));
    for (let sent = 0; sent < length; sent += length / 100) {
      client.write(Buffer.alloc(length / 100));
      if (sent % 400_000 === 0) await wait(5);
    }
    client.readOn();
    expect(await client.answer()).toMatchObject({ status: 413 });
  });

  // Those of an announced length that is short are counted by bytes, the others in blocks; each chunk costs something.
  test.each([
    ["content-length: 60", 1_360],
    ["transfer-encoding: chunked", 12_000],
  ])(
    "a delivery without room beside other bodies (%s) is answered 503, and the room is free again afterwards",
    async (framing, bodiesBytes) => {
      const { probe, server } = await start({ bodiesBytes });
      const isChunked = framing.startsWith("transfer");
      const part = (length: number): string =>
        isChunked ? `${length.toString(16)}\r\n${"a".repeat(length)}\r\n` : "a".repeat(length);
      const first = await connect(server.port);
      first.write(`${head(framing)}${part(59)}`);
      await wait(20);
      const second = await connect(server.port);
      second.write(`${head(framing)}${part(59)}`);
      expect(await second.answer()).toMatchObject({ status: 503, body: "overloaded" });
      second.write(part(1));
      first.write(`${part(1)}${isChunked ? "0\r\n\r\n" : ""}`);
      expect(await first.answer()).toMatchObject({ status: 200 });
      expect(probe.received.map(({ body }) => body.length)).toEqual([60]);
      await expect.poll(() => probe.admission.freeBytes).toBe(bodiesBytes);
      first.destroy();
      second.destroy();
    },
  );

  test.each([
    ["large", 40_000, 1],
    ["short", 16_000, 4],
  ])("%s bodies that were only announced take no room from other deliveries", async (_, length, count) => {
    const { server } = await start({ maxBodyBytes: 100_000, bodiesBytes: 50_000 });
    const idle = await Promise.all(Array.from({ length: count }, () => connect(server.port)));
    for (const client of idle) client.write(`${head(`content-length: ${length}`)}abc`);
    await wait(20);
    const genuine = await connect(server.port);
    const body = "a".repeat(length * 0.75);
    genuine.write(`${head(`content-length: ${body.length}`)}${body}`);
    expect(await genuine.answer()).toMatchObject({ status: 200 });
    for (const client of [...idle, genuine]) client.destroy();
  });

  test("a delivery whose body trickles is answered 408 when its time is over, and its connection is closed", async () => {
    const clock = fakeClock();
    const { probe, client } = await startRaw({ bodyTimeoutMs: 100, clock });
    client.write(`${head("content-length: 10")}abc`);
    await expect.poll(() => clock.nextTimerInMs).toBe(100);
    await clock.advance(99);
    client.write("d");
    await wait(20);
    expect(probe.outcomes).toEqual([]);
    await clock.advance(1);
    const answer = await client.answer();
    expect(answer).toMatchObject({ status: 408, body: "body_timeout", headers: { connection: "close" } });
    // The rest of the body is read for a while.
    await clock.advance(1_000);
    await client.closed;
    expect(probe.outcomes).toEqual(["body_timeout"]);
  });

  test("a delivery whose sender disconnects is dropped", async () => {
    const { probe, client } = await startRaw();
    client.write(`${head("content-length: 10")}abc`);
    await wait(20);
    client.destroy();
    await expect.poll(() => probe.outcomes).toEqual(["body_aborted"]);
    expect(probe.received).toEqual([]);
  });

  test("a delivery that expects 100-continue gets it", async () => {
    const { probe, url } = await start();
    const status = await new Promise((resolve, reject) => {
      const request = http.request(url, { method: "POST", headers: { expect: "100-continue", "content-length": 2 } });
      request.on("continue", () => request.end("{}"));
      request.on("response", (response) => resolve(response.resume().statusCode));
      request.on("error", reject);
      request.flushHeaders();
    });
    expect(status).toBe(200);
    expect(probe.received[0]?.body.toString()).toBe("{}");
  });

  test("a delivery that its headers exclude is answered without reading it, and the connection serves the next one", async () => {
    const { probe, client } = await startRaw({ needsSignature: true });
    client.write(`${head("content-length: 5")}first`);
    expect(await client.answer()).toMatchObject({ status: 401, body: "unsigned" });
    client.write(`${head("content-length: 6", "x-svc-signature: a")}second`);
    expect(await client.answer()).toMatchObject({ status: 200 });
    expect(probe.received.map(({ body }) => body.toString())).toEqual(["second"]);
    client.destroy();
  });

  test("the receiver gets both signature headers of a delivery that has two", async () => {
    const { probe, client } = await startRaw();
    client.write(`${head("content-length: 2", "x-svc-signature: a", "X-Svc-Signature: b")}{}`);
    expect((await client.answer()).status).toBe(200);
    expect(probe.received[0]?.signature).toBe("a, b");
    client.destroy();
  });

  const notFound = Object.assign(new Error("no such row"), { status: 404, statusCode: 404, expose: true });
  const fail = (): never => {
    throw notFound;
  };
  const faults: [string, ProbeRules["damage"]][] = [
    ["a header cannot be read", (_, request) => (request.header = fail)],
    ["admission throws", ({ admission }) => (admission.refusal = fail)],
    ["reading the body rejects", (_, request) => (request.readBody = () => Promise.reject(notFound))],
    ["verification throws", ({ verification }) => (verification.clock = { ...verification.clock, now: fail })],
    ["counting the answer throws", ({ report }) => (report.answers.look = fail)],
  ];
  test.each(faults)("a delivery is answered 503 when %s an error with a status of its own", async (_, damage) => {
    const { url } = await start({ ...(damage && { damage }) });
    const response = await fetch(url, { method: "POST", body: "{}" });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("60");
    expect(await response.text()).toBe("internal_error");
  });

  test("a delivery is answered with the receiver's answer", async () => {
    const answer = { status: 507, headers: { "retry-after": "7" }, body: "later" };
    const server = await mount.start({ handle: () => Promise.resolve(answer), clock: systemClock });
    const response = await fetch(`${server.url}/hooks`, { method: "POST", body: "{}" });
    expect([response.status, response.headers.get("retry-after"), await response.text()]).toEqual([507, "7", "later"]);
  });
});
