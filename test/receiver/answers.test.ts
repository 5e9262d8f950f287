import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Receiver, type ReceiverOptions, PigeonholeError } from "pigeonhole";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { openWithAlarms } from "../support/alarms.js";
import { makeGate } from "../support/gate.js";
import { serve } from "../support/serve.js";
import { bytesOf, makeEvent, post, receiveAnswer } from "../support/receiver.js";
import { makeSlowStore } from "../support/slow-store.js";
import { startReceiver } from "../support/start-receiver.js";
import { decorateStore } from "../support/store-in.js";

const OTHER_SECRET = `whsec_${"z".repeat(43)}`;
const MINUTE = 60_000;
const LARGE = "x".repeat(2_001);

interface Sent {
  body: unknown;
  /** Without one, the request is unsigned. */
  secret: string | undefined;
  /** Added to the time of signing. */
  skewMs: number;
  method: string;
  headers: Record<string, string>;
}

/** What the service receives: everything that it reads. */
interface Answer {
  status: number;
  retryAfter: string | null;
  allow: string | null;
  outcome: string;
  /** The kind of the outcome again where it is a refusal, empty for 2xx. */
  text: string;
}

const answerOf = (status: number, outcome: string, more: Partial<Answer> = {}): Answer => ({
  status,
  outcome,
  text: status < 300 ? "" : outcome,
  retryAfter: null,
  allow: null,
  ...more,
});

const later = (outcome: string, seconds: number): Answer => answerOf(503, outcome, { retryAfter: String(seconds) });
const NOT_POST = answerOf(405, "wrong_method", { allow: "POST" });

function open(options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
  const { clock, log, alarms, receiver } = openWithAlarms({ maxBodyBytes: 2_000, ...options });
  async function send(sent: Partial<Sent> = {}): Promise<Answer> {
    const { body = makeEvent(), secret, skewMs, method, headers } = { ...SIGNED, ...sent };
    const bytes = bytesOf(body);
    const signature =
      secret === undefined ? {} : signDelivery({ body: bytes, secret, timestamp: clock.now() + skewMs });
    const request = { method, headers: { ...signature, ...headers }, ...(method !== "GET" && { body: bytes }) };
    const answer = await receiveAnswer(receiver.fetch(new Request("http://pigeonhole.test/", request)));
    return answerOf(answer.status, answer.outcome, {
      text: answer.text,
      retryAfter: answer.headers.get("retry-after"),
      allow: answer.headers.get("allow"),
    });
  }
  return { clock, log, alarms, receiver, send };
}

const SIGNED = { secret: TEST_SECRET, skewMs: 0, method: "POST", headers: {} };

async function start(options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
  const opened = open(options);
  await opened.receiver.start();
  return opened;
}

/** How many answers the statistics have of each outcome that there was. */
async function countAnswers(receiver: Pick<Receiver, "stats">): Promise<Record<string, number>> {
  const { answers } = await receiver.stats();
  return Object.fromEntries(Object.entries(answers).filter(([, count]) => count > 0));
}

const unsigned = (headers: Record<string, string> = {}): Partial<Sent> => ({ secret: undefined, headers });
const withHeader = (name: string, value: string): Partial<Sent> => ({ headers: { [name]: value } });
const REJECT: Partial<ReceiverOptions> = { unverified: "reject" };
const ACCEPTED = answerOf(200, "accepted");
const PARKED = answerOf(200, "parked");

// An answer is final if the service does not send again, so that what it had to say is lost.
describe("a running receiver answers", () => {
  test.each<[string, Partial<Sent>, Answer, string?]>([
    ["200 to an event", {}, ACCEPTED],
    ["200 to an event signed 300 s ago", { skewMs: -300_000 }, ACCEPTED],
    ["200 to a type it does not know", { body: makeEvent({ type: "invoice.paid" }) }, PARKED],
    ["200 to what is not JSON", { body: "{" }, PARKED],
    ["200 to identity", withHeader("content-encoding", "identity"), ACCEPTED],
    ["200 to identity twice", withHeader("content-encoding", "Identity, identity"), ACCEPTED],
    ["200 at the limit", { body: "x".repeat(2_000) }, PARKED],
    [
      "503 to a malformed signature",
      withHeader("x-svc-signature", "t=1,v1=zz"),
      later("unreadable", 60),
      "signature_unreadable",
    ],
    ["503 to a signature of another secret", { secret: OTHER_SECRET }, later("unverified", 60)],
    ["503 to one signed 301 s ago", { skewMs: -301_000 }, later("unverified", 60), "clock_skew"],
    ["401 to no signature", unsigned(), answerOf(401, "unsigned")],
    ["401 to what is too large and unsigned", { ...unsigned(), body: LARGE }, answerOf(401, "unsigned")],
    ["405 to a browser", { ...unsigned(), method: "GET" }, NOT_POST],
  ])("a running receiver answers %s, which is not logged as final", async (_, sent, expected, alarm) => {
    const { receiver, send, log, alarms } = await start();
    expect(await send(sent)).toEqual(expected);
    expect((await receiver.inbox.list()).items).toHaveLength(expected.status === 200 ? 1 : 0);
    expect(await countAnswers(receiver)).toEqual({ [expected.outcome]: 1 });
    expect(log.named("final_answer")).toEqual([]);
    expect(alarms.map(({ kind }) => kind)).toEqual(alarm === undefined ? [] : [alarm]);
  });

  test.each<[string, Partial<Sent>, Answer, (Partial<ReceiverOptions> | undefined)?, object?]>([
    ["405 to GET", { method: "GET" }, NOT_POST],
    ["405 to GET with a time only", { ...unsigned({ "x-svc-timestamp": "1" }), method: "GET" }, NOT_POST],
    ["405 to DELETE", { method: "DELETE" }, NOT_POST],
    ["415 to gzip", withHeader("content-encoding", "gzip"), answerOf(415, "unsupported_encoding")],
    [
      "415 to gzip beside identity",
      withHeader("content-encoding", "identity, gzip"),
      answerOf(415, "unsupported_encoding"),
    ],
    ["413 over the limit", { body: LARGE }, answerOf(413, "too_large")],
    [
      "413 to an announced length over the limit",
      { body: LARGE, headers: { "content-length": "2001" } },
      answerOf(413, "too_large"),
      undefined,
      { announcedBytes: 2_001 },
    ],
    ["401 to a signature of another secret", { secret: OTHER_SECRET }, answerOf(401, "unverified"), REJECT],
    ["401 to one signed 301 s ago", { skewMs: -301_000 }, answerOf(401, "unverified"), REJECT],
    ["401 to an unreadable signature", withHeader("x-svc-signature", "v1=00"), answerOf(401, "unreadable"), REJECT],
    ["401 to a time only", unsigned({ "x-svc-timestamp": "1" }), answerOf(401, "unreadable"), REJECT],
  ])("a running receiver answers %s, and logs it as final with an alarm", async (_, sent, answer, options, size) => {
    const { receiver, send, log, alarms } = await start(options);
    expect(await send(sent)).toEqual(answer);
    expect((await receiver.inbox.list()).items).toEqual([]);
    const { status, outcome } = answer;
    expect(await countAnswers(receiver)).toEqual({ [outcome]: 1 });
    expect(log.named("final_answer")).toEqual([expect.objectContaining({ level: 40, kind: outcome, status, ...size })]);
    expect(alarms).toContainEqual({ kind: "final_answer", outcome, status });
  });

  test("a running receiver answers 200 to a duplicate, and keeps the first", async () => {
    const { receiver, send } = await start();
    const event = makeEvent();
    expect(await send({ body: event })).toEqual(ACCEPTED);
    expect(await send({ body: event })).toEqual(answerOf(200, "duplicate"));
    expect(await send({ body: { ...event, data: { other: 1 } } })).toEqual(answerOf(200, "duplicate"));
    expect((await receiver.inbox.get(event.id))?.body).toEqual(bytesOf(event));
    expect(await countAnswers(receiver)).toEqual({ accepted: 1, duplicate: 2 });
    expect((await receiver.inbox.list()).items).toHaveLength(1);
  });
});

describe("a receiver that cannot accept a delivery", () => {
  test("a receiver answers 503 before start()", async () => {
    const { receiver, send } = open();
    expect(await send()).toEqual(later("not_started", 30));
    expect(await countAnswers(receiver)).toEqual({ not_started: 1 });
  });

  test("a receiver answers 503 after stop(), and another start() rejects with stopped", async () => {
    const { receiver, send } = await start();
    await receiver.stop();
    expect(await send()).toEqual(later("stopping", 30));
    await expect(receiver.start()).rejects.toMatchObject({ code: "stopped" });
  });

  test("a receiver answers 503 over the high-water mark, and accepts again when there is room", async () => {
    const { store, gate, given } = makeSlowStore();
    const { send } = await start({ store, highWaterMark: 1 });
    const first = send();
    await expect.poll(given).toBe(1);
    expect(await send()).toEqual(later("overloaded", 30));
    gate.open();
    expect(await first).toEqual(ACCEPTED);
    expect(await send()).toEqual(ACCEPTED);
    expect(given()).toBe(2);
  });

  const refusals: [string, () => unknown][] = [
    ["is busy", () => new PigeonholeError("store_busy", "locked")],
    ["fails with an error that carries status 410", () => Object.assign(new Error("gone"), { status: 410 })],
    ["rejects with no error at all", () => undefined],
  ];
  test.each(refusals)(
    "a receiver answers 503 when the store %s, and accepts the next delivery",
    async (_, makeError) => {
      let isBroken = true;
      const store = decorateStore((real) => ({
        accept: (event) => (isBroken ? Promise.reject(makeError()) : real.accept(event)),
      }));
      const { receiver, send } = await start({ store });
      const body = makeEvent();
      expect(await send({ body })).toEqual(later("store_unavailable", 30));
      isBroken = false;
      expect(await send({ body })).toEqual(ACCEPTED);
      expect(await countAnswers(receiver)).toEqual({ store_unavailable: 1, accepted: 1 });
    },
  );

  test("a receiver answers 503 if its store was closed by the caller", async () => {
    const store = decorateStore(() => ({}));
    const { send } = await start({ store });
    await store.close();
    expect(await send()).toEqual(later("stopping", 30));
    await store.open({ logger: { debug() {}, info() {}, warn() {}, error() {}, child: () => expect.fail() } });
  });
});

test("a starting receiver lets deliveries wait and then accepts them", async () => {
  const gate = makeGate();
  const { receiver, send } = open({ secrets: () => gate.passed.then(() => [TEST_SECRET]) });
  const started = receiver.start();
  let answered = 0;
  const later = [send(), send()].map((answer) => answer.finally(() => (answered += 1)));
  // A refusal needs no secret; it comes first though it was sent last.
  expect(await send({ headers: { "content-encoding": "br" } })).toEqual(answerOf(415, "unsupported_encoding"));
  expect(answered).toBe(0);
  gate.open();
  await started;
  expect(await Promise.all(later)).toEqual([ACCEPTED, ACCEPTED]);
});

describe("the status of a thrown error", () => {
  const gone = (status: number) => Object.assign(new Error("thrown"), { status, statusCode: status, expose: true });

  test.each([400, 404, 409, 410, 301])(
    "the status %i of an error thrown by a handler, its key or onUnhandled does not reach the service",
    async (status) => {
      const { receiver, send } = open();
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
      expect(await send()).toEqual(ACCEPTED);
      expect(await send({ body: makeEvent({ type: "email.opened" }) })).toEqual(ACCEPTED);
      await expect.poll(() => runs).toBe(2);
    },
  );

  test("the status 410 of an error thrown while the secrets are read again does not reach the service", async () => {
    let reads = 0;
    const { send, clock } = await start({
      secrets() {
        reads += 1;
        if (reads > 1) throw gone(410);
        return [TEST_SECRET];
      },
    });
    await clock.advance(5_000);
    expect(await send({ secret: OTHER_SECRET })).toEqual(later("secrets_unavailable", 60));
    expect(reads).toBe(2);
  });
});

const mounts: [string, (receiver: Pick<Receiver, "middleware" | "fetch">) => Promise<{ url: string }>][] = [
  ["the middleware in Express 5", (receiver) => serve(express().all("/hooks", receiver.middleware()))],
  [
    "fetch in Hono",
    (receiver) => {
      const listener = getRequestListener(new Hono().all("/hooks", (context) => receiver.fetch(context.req.raw)).fetch);
      return serve((req, res) => void listener(req, res));
    },
  ],
];

test.each(mounts)(
  "over %s, a run begins only when the answers of its delivery and of those that came with it are with the sockets",
  async (_, mount) => {
    const sockets: Socket[] = [];
    const onSocket = (message: unknown): unknown => sockets.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    onTestFinished(() => void unsubscribe("net.server.socket", onSocket));
    const { store, gate, given } = makeSlowStore();
    let answeredAtFirstRun = -1;
    const noteRun = (): void => {
      if (answeredAtFirstRun < 0) answeredAtFirstRun = sockets.filter(({ bytesWritten }) => bytesWritten > 0).length;
    };
    const receiver = await startReceiver({ store }, { "*": noteRun });
    const server = await mount(receiver);
    const send = (): Promise<Response> => {
      const body = JSON.stringify(makeEvent());
      const headers = signDelivery({ body, secret: TEST_SECRET });
      return fetch(`${server.url}/hooks`, { method: "POST", body, headers });
    };
    const sent = Promise.all(Array.from({ length: 5 }, () => send()));
    await expect.poll(given).toBe(5);
    // All are in one commit.
    gate.open();
    await sent;
    await expect.poll(() => answeredAtFirstRun).toBe(5);
  },
);

test.each<[string, string | Buffer]>([
  ["has read it", JSON.stringify(makeEvent())],
  ["failed on what is too large for it", JSON.stringify(makeEvent({ data: { text: "x".repeat(150_000) } }))],
  ["failed on what is not JSON", "not JSON"],
])(
  "a delivery is answered 503 if a parser in front %s and the app continued, and an alarm says so",
  async (_, body) => {
    const alarms: string[] = [];
    const receiver = await startReceiver({ onAlarm: ({ kind }) => alarms.push(kind) });
    const goOn: express.ErrorRequestHandler = (_error, _req, _res, next) => next();
    const server = await serve(express().use(express.json(), goOn).post("/hooks", receiver.middleware()));
    const headers = { "content-type": "application/json", ...signDelivery({ body, secret: TEST_SECRET }) };
    const response = await fetch(`${server.url}/hooks`, { method: "POST", body, headers });
    expect(answerOf(response.status, await response.text())).toEqual(answerOf(503, "body_consumed"));
    expect(response.headers.get("retry-after")).toBe("60");
    expect(alarms).toEqual(["body_consumed"]);
  },
);

describe("many final answers", () => {
  test("final answers of one kind are logged ten times a minute", async () => {
    const { alarms, clock, log, send } = await start();
    for (let count = 0; count < 35; count += 1) await send({ method: "PUT" });
    await send({ body: LARGE });
    const kinds = () => log.named("final_answer").map(({ kind }) => kind);
    expect(kinds()).toEqual([...Array.from({ length: 10 }, () => "wrong_method"), "too_large"]);
    await clock.advance(MINUTE);
    await send({ method: "PUT" });
    expect(kinds()).toHaveLength(12);
    expect(alarms.map(({ kind }) => kind)).toEqual(["final_answer", "final_answer"]);
  });

  test("ids of genuine deliveries are logged each time", async () => {
    const { clock, log, receiver } = await start();
    const ids: string[] = [];
    for (let count = 0; count < 15; count += 1) {
      const event = makeEvent();
      ids.push(event.id);
      await post(receiver, event, { at: clock.now() });
      await post(receiver, { ...event, data: { other: true } }, { at: clock.now() });
      await post(receiver, { ...event, id: `${event.id}_parked`, type: "newer.type" }, { at: clock.now() });
    }
    expect(log.named("other_bytes").map(({ eventId }) => eventId)).toEqual(ids);
    expect(log.named("parked").map(({ eventId }) => eventId)).toEqual(ids.map((id) => `${id}_parked`));
  });
});
