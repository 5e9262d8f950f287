import { describe, expect, test } from "vitest";
import { type Alarm, type ReceiverOptions } from "pigeonhole";
import { TEST_SECRET, fakeClock, signDelivery } from "pigeonhole/testing";
import { captureLog, receiveAnswer, makeEvent, openReceiver, post } from "../support/receiver.js";

const OTHER_SECRET = `whsec_${"z".repeat(43)}`;
const MINUTE = 60_000;

async function start(options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
  const clock = fakeClock();
  const log = captureLog();
  const alarms: Alarm[] = [];
  const onAlarm = (alarm: Alarm): unknown => alarms.push(alarm);
  const receiver = openReceiver({ clock, logger: log.logger, onAlarm, maxBodyBytes: 2_000, ...options });
  await receiver.start();
  async function send(init: RequestInit & { secret?: string; skewMs?: number; isSigned?: boolean } = {}) {
    const { secret = TEST_SECRET, skewMs = 0, isSigned = true, ...rest } = init;
    const body = typeof rest.body === "string" ? rest.body : JSON.stringify(makeEvent());
    const timestamp = clock.now() + skewMs;
    const signature = isSigned ? signDelivery({ body, secret, timestamp }) : {};
    const isBodiless = rest.method === "GET" || rest.method === "HEAD";
    const headers = { ...signature, ...Object.fromEntries(new Headers(rest.headers)) };
    const request = { method: "POST", ...rest, headers, ...(isBodiless ? {} : { body }) };
    return (await receiveAnswer(receiver.fetch(new Request("http://pigeonhole.test/", request)))).status;
  }
  return { clock, log, alarms, receiver, send };
}

type Sent = Parameters<Awaited<ReturnType<typeof start>>["send"]>[0];

const LARGE = "x".repeat(2_001);

describe("final answers to signed requests", () => {
  test.each<[number, string, Sent, Partial<ReceiverOptions>, object]>([
    [405, "wrong_method", { method: "PUT" }, {}, {}],
    [405, "wrong_method", { method: "GET" }, {}, {}],
    [415, "unsupported_encoding", { headers: { "content-encoding": "gzip" } }, {}, {}],
    [413, "too_large", { body: LARGE }, {}, {}],
    [413, "too_large", { body: LARGE, headers: { "content-length": "2001" } }, {}, { announcedBytes: 2_001 }],
    [401, "unverified", { secret: OTHER_SECRET }, { unverified: "reject" }, {}],
    [401, "unverified", { skewMs: -400_000 }, { unverified: "reject" }, {}],
    [401, "unreadable", { headers: { "x-svc-signature": "v1=00" } }, { unverified: "reject" }, {}],
    [401, "unreadable", { isSigned: false, headers: { "x-svc-timestamp": "1" } }, { unverified: "reject" }, {}],
    [405, "wrong_method", { isSigned: false, method: "GET", headers: { "x-svc-timestamp": "1" } }, {}, {}],
    [413, "too_large", { isSigned: false, body: LARGE, headers: { "x-svc-timestamp": "1" } }, {}, {}],
  ])(
    "a final answer to a request with a signature is logged and raises an alarm: %i %s (row %#)",
    async (status, outcome, sent, options, size) => {
      const { alarms, log, send } = await start(options);
      expect(await send(sent)).toBe(status);
      expect(log.named("final_answer")).toEqual([
        expect.objectContaining({ level: 40, kind: outcome, status, ...size }),
      ]);
      expect(alarms).toContainEqual({ kind: "final_answer", outcome, status });
    },
  );
});

test.each<[string, number, Sent]>([
  ["without a signature", 401, { isSigned: false }],
  ["to a browser", 405, { isSigned: false, method: "GET" }],
  ["too large and unsigned", 401, { isSigned: false, body: LARGE }],
  ["that is 200", 200, {}],
  ["after which the service sends again", 503, { secret: OTHER_SECRET }],
])("an answer %s is not logged as final", async (_, status, sent) => {
  const { alarms, log, send } = await start();
  expect(await send(sent)).toBe(status);
  expect(log.named("final_answer")).toEqual([]);
  expect(alarms).toEqual([]);
});

describe("many final answers", () => {
  test("final answers of one kind are logged ten times a minute, and the rest is counted at the end of the minute", async () => {
    const { alarms, clock, log, send } = await start();
    for (let count = 0; count < 35; count += 1) await send({ method: "PUT" });
    await send({ body: LARGE });
    const kinds = () => log.named("final_answer").map(({ kind }) => kind);
    expect(kinds()).toEqual([...Array.from({ length: 10 }, () => "wrong_method"), "too_large"]);
    await clock.advance(MINUTE - 1);
    expect(log.named("final_answer_suppressed")).toEqual([]);
    await clock.advance(1);
    expect(log.named("final_answer_suppressed")).toEqual([
      expect.objectContaining({ level: 40, kind: "wrong_method", suppressed: 25 }),
    ]);
    await send({ method: "PUT" });
    expect(kinds()).toHaveLength(12);
    expect(alarms.map(({ kind }) => kind)).toEqual(["final_answer", "final_answer"]);
  });

  test("final answers that were not logged are counted at stop() without waiting for the end of the minute", async () => {
    const { log, receiver, send } = await start();
    for (let count = 0; count < 11; count += 1) await send({ method: "PUT" });
    await receiver.stop();
    expect(log.named("final_answer_suppressed")).toEqual([expect.objectContaining({ suppressed: 1 })]);
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
