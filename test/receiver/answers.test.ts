import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Receiver, type ReceiverOptions, type Store, PigeonholeError } from "pigeonhole";
import { type FakeClock, TEST_SECRET, fakeClock, signDelivery } from "pigeonhole/testing";
import { serve } from "../support/mounts.js";
import { bytesOf, decorateStore, makeEvent, makeGate, openReceiver, post } from "../support/receiver.js";

const OTHER_SECRET = `whsec_${"z".repeat(43)}`;

const mounts: [
  string,
  (receiver: Pick<Receiver, "middleware" | "fetch">) => Promise<{ url: string; close(): Promise<void> }>,
][] = [
  ["the middleware in Express 5", (receiver) => serve(express().all("/hooks", receiver.middleware()))],
  [
    "fetch in Hono",
    (receiver) => {
      const listener = getRequestListener(new Hono().all("/hooks", (context) => receiver.fetch(context.req.raw)).fetch);
      return serve((req, res) => void listener(req, res));
    },
  ],
];

interface Sent {
  body: unknown;
  secret: string;
  /** Added to the time of signing. */
  skewMs: number;
  method: string;
  headers: Record<string, string>;
}

/** What the service receives: everything that it reads. */
interface ReceivedAnswer {
  status: number;
  retryAfter: string | null;
  allow: string | null;
  outcome: string;
  /** The kind of the outcome again where it is a refusal, empty for 2xx. */
  text: string;
}

const answerOf = (status: number, outcome: string, more: Partial<ReceivedAnswer> = {}): ReceivedAnswer => ({
  status,
  outcome,
  text: status < 300 ? "" : outcome,
  retryAfter: null,
  allow: null,
  ...more,
});

interface Service {
  clock: FakeClock;
  receiver: Receiver<Record<never, never>>;
  send: (over?: Partial<Sent>) => Promise<ReceivedAnswer>;
}

describe.each(mounts)("over %s", (_, mount) => {
  async function open(options: Partial<ReceiverOptions<Record<never, never>>> = {}): Promise<Service> {
    const clock = fakeClock();
    const receiver = openReceiver({ clock, ...options });
    const server = await mount(receiver);
    onTestFinished(() => server.close());
    return {
      clock,
      receiver,
      async send({ body = makeEvent(), secret = TEST_SECRET, skewMs = 0, method = "POST", headers = {} } = {}) {
        const bytes = bytesOf(body);
        const signed = signDelivery({ body: bytes, secret, timestamp: clock.now() + skewMs });
        const response = await fetch(`${server.url}/hooks`, {
          method,
          redirect: "manual",
          headers: { "content-type": "application/json", ...signed, ...headers },
          ...(method === "GET" || method === "HEAD" ? {} : { body: bytes }),
        });
        return answerOf(response.status, response.headers.get("x-pigeonhole-outcome") ?? "none", {
          text: await response.text(),
          retryAfter: response.headers.get("retry-after"),
          allow: response.headers.get("allow"),
        });
      },
    };
  }

  describe("a running receiver answers", () => {
    const rows: [string, Partial<Sent>, ReceivedAnswer][] = [
      ["200 to an event", {}, answerOf(200, "accepted")],
      ["200 to an event signed 300 s ago", { skewMs: -300_000 }, answerOf(200, "accepted")],
      ["200 to an event signed 300 s ahead", { skewMs: 300_000 }, answerOf(200, "accepted")],
      ["200 to a type it does not know", { body: makeEvent({ type: "invoice.paid" }) }, answerOf(200, "parked")],
      ["200 to what is not JSON", { body: "{" }, answerOf(200, "parked")],
      ["200 to an empty body", { body: "" }, answerOf(200, "parked")],
      ["200 to no envelope", { body: { hello: 1 } }, answerOf(200, "parked")],
      [
        "503 to an empty signature",
        { headers: { "x-svc-signature": "" } },
        answerOf(503, "unreadable", { retryAfter: "60" }),
      ],
      [
        "503 to a malformed signature",
        { headers: { "x-svc-signature": "t=1,v1=zz" } },
        answerOf(503, "unreadable", { retryAfter: "60" }),
      ],
      [
        "503 to a signature without a time",
        { headers: { "x-svc-signature": "ab".repeat(32) } },
        answerOf(503, "unreadable", { retryAfter: "60" }),
      ],
      [
        "503 to a signature of another secret",
        { secret: OTHER_SECRET },
        answerOf(503, "unverified", { retryAfter: "60" }),
      ],
      ["503 to one signed 301 s ago", { skewMs: -301_000 }, answerOf(503, "unverified", { retryAfter: "60" })],
      ["503 to one signed 301 s ahead", { skewMs: 301_000 }, answerOf(503, "unverified", { retryAfter: "60" })],
      ["405 to GET", { method: "GET" }, answerOf(405, "wrong_method", { allow: "POST" })],
      ["405 to PUT", { method: "PUT" }, answerOf(405, "wrong_method", { allow: "POST" })],
      ["415 to gzip", { headers: { "content-encoding": "gzip" } }, answerOf(415, "unsupported_encoding")],
      ["200 to identity", { headers: { "content-encoding": "identity" } }, answerOf(200, "accepted")],
      ["413 over the limit", { body: "x".repeat(2_001) }, answerOf(413, "too_large")],
      ["200 at the limit", { body: "x".repeat(2_000) }, answerOf(200, "parked")],
    ];

    test.each(rows)("a running receiver answers %s", async (_, sent, expected) => {
      const { receiver, send } = await open({ maxBodyBytes: 2_000 });
      await receiver.start();
      expect(await send(sent)).toEqual(expected);
      const { items } = await receiver.inbox.list();
      expect(items).toHaveLength(expected.status === 200 ? 1 : 0);
    });

    test("a running receiver answers 200 to a duplicate, and keeps the first", async () => {
      const { receiver, send } = await open();
      await receiver.start();
      const event = makeEvent();
      expect(await send({ body: event })).toEqual(answerOf(200, "accepted"));
      expect(await send({ body: event })).toEqual(answerOf(200, "duplicate"));
      expect(await send({ body: { ...event, data: { other: 1 } } })).toEqual(answerOf(200, "duplicate"));
      expect((await receiver.inbox.get(event.id))?.body).toEqual(bytesOf(event));
      expect((await receiver.inbox.list()).items).toHaveLength(1);
    });
  });

  describe('with unverified: "reject"', () => {
    test.each<[string, Partial<Sent>, string]>([
      ["to a signature of another secret", { secret: OTHER_SECRET }, "unverified"],
      ["to one signed 301 s ago", { skewMs: -301_000 }, "unverified"],
      ["to one signed 301 s ahead", { skewMs: 301_000 }, "unverified"],
      ["to one that cannot be read", { headers: { "x-svc-signature": "sha512=00" } }, "unreadable"],
    ])('a receiver with unverified: "reject" answers 401 %s', async (_, sent, outcome) => {
      const { receiver, send } = await open({ unverified: "reject" });
      await receiver.start();
      expect(await send(sent)).toEqual(answerOf(401, outcome));
    });
  });

  describe("a receiver that cannot accept a delivery", () => {
    test("a receiver answers 503 before start()", async () => {
      const { send } = await open();
      expect(await send()).toEqual(answerOf(503, "not_started", { retryAfter: "30" }));
    });

    test("a receiver answers 503 after stop(), and another start() rejects with stopped", async () => {
      const { receiver, send } = await open();
      await receiver.start();
      await receiver.stop();
      expect(await send()).toEqual(answerOf(503, "stopping", { retryAfter: "30" }));
      await expect(receiver.start()).rejects.toMatchObject({ code: "stopped" });
    });

    test("a receiver answers 503 over the high-water mark, and accepts again when there is room", async () => {
      const gate = makeGate();
      let stored = 0;
      const store = decorateStore((real) => ({
        async accept(event) {
          stored += 1;
          if (stored === 1) await gate.passed;
          return real.accept(event);
        },
      }));
      const { receiver, send } = await open({ store, highWaterMark: 1 });
      await receiver.start();
      const first = send();
      await expect.poll(() => stored).toBe(1);
      expect(await send()).toEqual(answerOf(503, "overloaded", { retryAfter: "30" }));
      gate.open();
      expect(await first).toEqual(answerOf(200, "accepted"));
      expect(await send()).toEqual(answerOf(200, "accepted"));
      expect(stored).toBe(2);
    });

    const refusals: [string, () => unknown][] = [
      ["is busy", () => new PigeonholeError("store_busy", "locked")],
      ["is full", () => new PigeonholeError("store_full", "full")],
      ["is broken", () => new PigeonholeError("store_failed", "broken")],
      ["fails with an error that carries status 410", () => Object.assign(new Error("gone"), { status: 410 })],
      ["fails with an error that carries statusCode 404", () => Object.assign(new Error("no"), { statusCode: 404 })],
      ["rejects with no error at all", () => undefined],
    ];
    test.each(refusals)(
      "a receiver answers 503 when the store %s, and accepts the next delivery",
      async (_, makeError) => {
        let isBroken = true;
        const store = decorateStore((real) => ({
          accept: (event) => (isBroken ? Promise.reject(makeError()) : real.accept(event)),
        }));
        const { receiver, send } = await open({ store });
        await receiver.start();
        const body = makeEvent();
        expect(await send({ body })).toEqual(answerOf(503, "store_unavailable", { retryAfter: "30" }));
        isBroken = false;
        expect(await send({ body })).toEqual(answerOf(200, "accepted"));
      },
    );

    test("a receiver answers 503 if its store was closed by the caller", async () => {
      const store: Store = decorateStore(() => ({}));
      const { receiver, send } = await open({ store });
      await receiver.start();
      await store.close();
      expect(await send()).toEqual(answerOf(503, "stopping", { retryAfter: "30" }));
      await store.open({ logger: { debug() {}, info() {}, warn() {}, error() {}, child: () => expect.fail() } });
    });
  });

  test("a starting receiver lets deliveries wait and then accepts them", async () => {
    const gate = makeGate();
    const { receiver, send } = await open({ secrets: () => gate.passed.then(() => [TEST_SECRET]) });
    const started = receiver.start();
    let answered = 0;
    const later = [send(), send()].map((answer) => answer.finally(() => (answered += 1)));
    // A refusal needs no secret; it comes first though it was sent last.
    expect(await send({ headers: { "content-encoding": "br" } })).toEqual(answerOf(415, "unsupported_encoding"));
    expect(answered).toBe(0);
    gate.open();
    await started;
    expect(await Promise.all(later)).toEqual([answerOf(200, "accepted"), answerOf(200, "accepted")]);
  });

  test("a run begins only when the answers of its delivery and of those that came with it are with the sockets", async () => {
    const sockets: Socket[] = [];
    const onSocket = (message: unknown): unknown => sockets.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    onTestFinished(() => void unsubscribe("net.server.socket", onSocket));
    const gate = makeGate();
    let [given, answeredAtFirstRun] = [0, -1];
    // All are in one commit.
    const store = decorateStore((real) => ({
      async accept(event) {
        given += 1;
        if (given === 5) gate.open();
        await gate.passed;
        return real.accept(event);
      },
    }));
    const { receiver, send } = await open({ store });
    receiver.on("*", () => {
      if (answeredAtFirstRun < 0) answeredAtFirstRun = sockets.filter(({ bytesWritten }) => bytesWritten > 0).length;
    });
    await receiver.start();
    await Promise.all(Array.from({ length: 5 }, () => send()));
    await expect.poll(() => answeredAtFirstRun).toBe(5);
  });

  describe("the status of a thrown error", () => {
    const gone = (status: number) => Object.assign(new Error("thrown"), { status, statusCode: status, expose: true });

    test.each([400, 404, 409, 410, 301])(
      "the status %i of an error thrown by a handler, its key or onUnhandled does not reach the service",
      async (status) => {
        const { receiver, send } = await open();
        let runs = 0;
        const fail = () => {
          runs += 1;
          throw gone(status);
        };
        receiver.on("email.sent", fail, {
          key: () => {
            throw gone(status);
          },
        });
        receiver.onUnhandled(fail);
        await receiver.start();
        expect(await send()).toEqual(answerOf(200, "accepted"));
        expect(await send({ body: makeEvent({ type: "email.opened" }) })).toEqual(answerOf(200, "accepted"));
        await expect.poll(() => runs).toBe(2);
      },
    );

    test("the status 410 of an error thrown while the secrets are read again does not reach the service", async () => {
      let reads = 0;
      const { receiver, send, clock } = await open({
        secrets() {
          reads += 1;
          if (reads > 1) throw gone(410);
          return [TEST_SECRET];
        },
      });
      await receiver.start();
      await clock.advance(5_000);
      expect(await send({ secret: OTHER_SECRET })).toEqual(answerOf(503, "secrets_unavailable", { retryAfter: "60" }));
      expect(reads).toBe(2);
    });
  });
});

test("a delivery is answered 503 if a parser in front has read it, and an alarm names the fix", async () => {
  const alarms: string[] = [];
  const receiver = openReceiver({ onAlarm: ({ kind }) => alarms.push(kind) });
  await receiver.start();
  const server = await serve(express().use(express.json()).post("/hooks", receiver.middleware()));
  onTestFinished(() => server.close());
  const body = JSON.stringify(makeEvent());
  const headers = { "content-type": "application/json", ...signDelivery({ body, secret: TEST_SECRET }) };
  const response = await fetch(`${server.url}/hooks`, { method: "POST", body, headers });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("60");
  expect(await response.text()).toBe("body_consumed");
  expect(alarms).toEqual(["body_consumed"]);
});

test.each<[string, string | Buffer]>([
  ["too large for it", JSON.stringify(makeEvent({ data: { text: "x".repeat(150_000) } }))],
  ["not JSON", "not JSON"],
])("a delivery is answered 503 if a parser in front failed on what is %s and the app continued", async (_, body) => {
  const receiver = openReceiver();
  await receiver.start();
  const goOn: express.ErrorRequestHandler = (_error, _req, _res, next) => next();
  const server = await serve(express().use(express.json(), goOn).post("/hooks", receiver.middleware()));
  onTestFinished(() => server.close());
  const headers = { "content-type": "application/json", ...signDelivery({ body, secret: TEST_SECRET }) };
  const response = await fetch(`${server.url}/hooks`, { method: "POST", body, headers });
  expect(answerOf(response.status, await response.text())).toEqual(answerOf(503, "body_consumed"));
  expect(response.headers.get("retry-after")).toBe("60");
});

test("a run of work that a page of the store contains waits until its delivery is answered", async () => {
  const [isStored, answering] = [makeGate(), makeGate()];
  let pages = 0;
  const store = decorateStore((real) => ({
    async lease(request) {
      if (request.limit > 0) pages += 1;
      if (pages === 1) throw new PigeonholeError("store_failed", "broken");
      return real.lease(request);
    },
    async accept(event) {
      const result = await real.accept(event);
      isStored.open();
      await answering.passed;
      return result;
    },
  }));
  const clock = fakeClock();
  const receiver = openReceiver({ store, clock });
  const order: string[] = [];
  receiver.on("*", () => void order.push("run"));
  await receiver.start();
  // What waits in the store is not known after the failure, so the event is not leased with its commit.
  await expect.poll(() => pages).toBe(1);
  const event = makeEvent();
  const answered = post(receiver, event, { at: clock.now() }).then(() => order.push("answer"));
  await isStored.passed;
  await clock.advance(1_000);
  await expect.poll(async () => (await receiver.inbox.get(event.id))?.handlers[0]?.state).toBe("leased");
  expect(order).toEqual([]);
  answering.open();
  await answered;
  await expect.poll(() => order).toEqual(["answer", "run"]);
});
