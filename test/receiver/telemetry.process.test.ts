import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { SpanKind, SpanStatusCode, metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DoNotRetry, PigeonholeError } from "pigeonhole";
import { TEST_SECRET, fakeClock } from "pigeonhole/testing";
import { CANARY, runCanaries } from "./canary-scenario.js";
import { useSpanRecorder } from "./span-recorder.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { closeReceiver, makeEvent, post, untilWork } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";
import { decorateStore } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";
import { operatedBy } from "../support/operate.js";

const spans = useSpanRecorder();
const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });

beforeAll(() => void metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] })));
afterAll(async () => {
  await reader.shutdown();
  metrics.disable();
});

interface Point {
  name: string;
  attributes: Record<string, unknown>;
  value: unknown;
}

/** All metrics now. */
async function readPoints(): Promise<Point[]> {
  points.reset();
  await reader.forceFlush();
  return points
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    .flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({ name: descriptor.name, attributes, value })),
    );
}

/** Counters go on over the tests of this file, so only differences say something. */
async function countOf(name: string, attributes: Record<string, string>): Promise<number> {
  const found = (await readPoints()).find(
    (point) => point.name === name && JSON.stringify(point.attributes) === JSON.stringify(attributes),
  );
  return typeof found?.value === "number" ? found.value : 0;
}

async function runOne(telemetry: boolean) {
  const receiver = await startReceiver(
    { telemetry },
    {
      "email.sent": [() => undefined, { name: "good" }],
      "email.*": [() => Promise.reject(new DoNotRetry("no")), { name: "bad" }],
    },
  );
  const event = await postUntil(receiver, { state: "done" }, {}, "good");
  await untilWork(receiver, event.id, { state: "dead" }, "bad");
  await post(receiver, event);
  return { receiver, event };
}

test("a delivery and each run of a handler is a span", async () => {
  const { event } = await runOne(true);
  const found = spans.ended.map(({ name, kind, attributes, status }) => ({ name, kind, attributes, status }));
  const run = { "pigeonhole.event.id": event.id, "pigeonhole.event.type": "email.sent", "pigeonhole.attempt": 1 };
  expect(found).toHaveLength(4);
  expect(found).toEqual(
    expect.arrayContaining([
      {
        name: "pigeonhole.receive",
        kind: SpanKind.CONSUMER,
        status: { code: SpanStatusCode.UNSET },
        attributes: {
          "pigeonhole.outcome": "accepted",
          "pigeonhole.event.id": event.id,
          "pigeonhole.event.type": "email.sent",
        },
      },
      {
        name: "pigeonhole.receive",
        kind: SpanKind.CONSUMER,
        status: { code: SpanStatusCode.UNSET },
        attributes: { "pigeonhole.outcome": "duplicate", "pigeonhole.event.id": event.id },
      },
      {
        name: "pigeonhole.handle good",
        kind: SpanKind.INTERNAL,
        status: { code: SpanStatusCode.UNSET },
        attributes: { ...run, "pigeonhole.handler": "good", "pigeonhole.outcome": "done" },
      },
      {
        name: "pigeonhole.handle bad",
        kind: SpanKind.INTERNAL,
        status: { code: SpanStatusCode.ERROR },
        attributes: { ...run, "pigeonhole.handler": "bad", "pigeonhole.outcome": "dead" },
      },
    ]),
  );
});

const ANSWERED = "messaging.client.consumed.messages";
const RECEIVED = { "messaging.system": "pigeonhole", "messaging.operation.name": "receive" };
const ACCEPTED = { ...RECEIVED, "pigeonhole.outcome": "accepted" };
const UNSIGNED = { ...RECEIVED, "pigeonhole.outcome": "unsigned", "error.type": "unsigned" };

test("deliveries are counted by outcome, also those that are refused unread", async () => {
  const before = [await countOf(ANSWERED, ACCEPTED), await countOf(ANSWERED, UNSIGNED)];
  const { receiver } = await runOne(true);
  await receiver.fetch(new Request("http://pigeonhole.test/", { method: "POST", body: "{}" }));
  const after = [await countOf(ANSWERED, ACCEPTED), await countOf(ANSWERED, UNSIGNED)];
  expect(after).toEqual(before.map((count) => count + 1));
});

test("deliveries of a named source are counted under its name, and those that nobody is known to have sent are not", async () => {
  const secrets = { acme: TEST_SECRET, beta: `whsec_${"b".repeat(43)}` };
  const receiver = await startReceiver({ telemetry: true, secrets });
  const ofSource = (name: string) => ({ ...ACCEPTED, "pigeonhole.source": name });
  const event = makeEvent();
  for (const secret of [secrets.acme, secrets.beta, secrets.beta]) {
    await post(receiver, { ...event, id: makeEvent().id }, { secret });
  }
  await post(receiver, event, { secret: `whsec_${"x".repeat(43)}` });
  expect([await countOf(ANSWERED, ofSource("acme")), await countOf(ANSWERED, ofSource("beta"))]).toEqual([1, 2]);
  const named = (await readPoints()).flatMap(({ attributes }) => attributes["pigeonhole.source"] ?? []);
  expect(new Set(named)).toEqual(new Set(["acme", "beta"]));
  const sources = spans.named("pigeonhole.receive").map(({ attributes }) => attributes["pigeonhole.source"]);
  expect(sources).toEqual(["acme", "beta", "beta", undefined]);
});

test("the time of deliveries and runs is recorded in seconds, by handler, type and outcome", async () => {
  await runOne(true);
  const found = await readPoints();
  const run = {
    "messaging.system": "pigeonhole",
    "messaging.operation.name": "process",
    "messaging.destination.name": "email.sent",
  };
  const good = { ...run, "messaging.consumer.group.name": "good", "pigeonhole.outcome": "done" };
  const bad = { ...run, "messaging.consumer.group.name": "bad", "pigeonhole.outcome": "dead", "error.type": "dead" };
  const runs = found.filter(({ name }) => name === "messaging.process.duration");
  expect(runs.map(({ attributes }) => attributes)).toEqual(expect.arrayContaining([good, bad]));
  const times = [...runs, ...found.filter(({ name }) => name === "pigeonhole.delivery.duration")];
  const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
  expect(times.length).toBeGreaterThan(3);
  for (const { value } of times) expect(value).toMatchObject({ buckets: { boundaries } });
});

test("a run under which the store failed is interrupted, which is no failure of the handler", async () => {
  let refusals = 1;
  const refuse = () => Promise.reject(new PigeonholeError("store_unreachable", "no answer from the server"));
  const store = decorateStore((real) => ({
    saveStep: (...args) => (refusals-- > 0 ? refuse() : real.saveStep(...args)),
  }));
  const receiver = await startReceiver(
    { telemetry: true, store },
    { "email.sent": [(_, { step }) => step("s", () => undefined), { name: "unlucky" }] },
  );
  await postUntil(receiver, { state: "done", attempts: 1 }, {}, "unlucky");
  const attributes = (await readPoints()).map((point) => point.attributes);
  const runs = attributes.filter((each) => each["messaging.consumer.group.name"] === "unlucky");
  expect(runs.map((each) => [each["pigeonhole.outcome"], each["error.type"]])).toEqual([
    ["interrupted", undefined],
    ["done", undefined],
  ]);
  expect(spans.named("pigeonhole.handle unlucky").map((span) => span.attributes["pigeonhole.outcome"])).toEqual([
    "interrupted",
    "done",
  ]);
});

/** The gauges now, by their names without `pigeonhole.`. */
async function readGauges(): Promise<Record<string, unknown>> {
  const found = (await readPoints()).filter(
    ({ name, value }) => name.startsWith("pigeonhole.") && typeof value === "number",
  );
  return Object.fromEntries(found.map(({ name, value }) => [name.slice("pigeonhole.".length), value]));
}

test("gauges show the backlog, the outbox, what was given up, and the endpoint", async () => {
  const clock = fakeClock();
  const api = { apiKey: "svc_test", baseUrl: "http://127.0.0.1:1" };
  const gate = makeGate();
  const receiver = await startReceiver(
    { telemetry: true, clock, api },
    {
      "email.sent": [() => gate.passed, { name: "slow" }],
      "email.*": [() => Promise.reject(new DoNotRetry("no")), { name: "bad" }],
    },
  );
  const event = await postUntil(receiver, { state: "dead" }, {}, "bad");
  await receiver.contactEvents.record({ email: "a@example.com", name: "seen" });
  await post(receiver, event, { secret: `whsec_${"x".repeat(43)}` });
  await clock.advance(20_000);
  expect(await readGauges()).toMatchObject({
    "store.up": 1,
    "backlog.depth": 1,
    "backlog.age": 20,
    "work.dead": 1,
    "work.parked": 0,
    "outbox.depth": 1,
    "outbox.age": 20,
    "outbox.dead": 0,
    failures_in_a_row: 1,
    silence: 20,
  });
  gate.open();
});

test.each([
  ["that cannot be counted", false],
  ["that does not answer holds up no metric, and", true],
])("a store %s is shown as down", async (_, hangs) => {
  const gate = makeGate();
  if (!hangs) gate.open();
  const overview = () => gate.passed.then(() => Promise.reject(new Error("broken")));
  const store = decorateStore((real) => operatedBy(real, () => ({ overview })));
  await startReceiver({ telemetry: true, store });
  expect(await readGauges()).toMatchObject({ "store.up": 0 });
  gate.open();
});

test("a receiver that has stopped is no longer asked", async () => {
  const clock = fakeClock();
  let counted = 0;
  const store = decorateStore((real) =>
    operatedBy(real, (operator) => ({ overview: () => ((counted += 1), operator.overview()) })),
  );
  const receiver = await startReceiver({ telemetry: true, clock, store });
  await clock.advance(10_000);
  const before = counted;
  await readPoints();
  expect(counted).toBe(before + 1);
  await closeReceiver(receiver, clock);
  await clock.advance(10_000);
  const atEnd = counted;
  await readPoints();
  expect(counted).toBe(atEnd);
});

test("no span and no metric contains a secret, a body or an address", async () => {
  const { signatures } = await runCanaries(silentLogger);
  expect(spans.ended.length).toBeGreaterThan(30);
  const told = JSON.stringify([
    spans.ended.map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
    await readPoints(),
  ]);
  expect(told).toContain("pigeonhole.handle email.sent");
  expect(told).not.toContain(CANARY);
  for (const signature of signatures) expect(told).not.toContain(signature);
});

test("the option telemetry: false makes no span and counts nothing", async () => {
  const before = await countOf(ANSWERED, ACCEPTED);
  await runOne(false);
  expect(spans.ended).toEqual([]);
  expect(await countOf(ANSWERED, ACCEPTED)).toBe(before);
});

test("a receiver works without the package @opentelemetry/api", () => {
  const child = spawnSync(process.execPath, [join(import.meta.dirname, "without-telemetry.mjs")], { encoding: "utf8" });
  expect(child.stderr).toBe("");
  expect(JSON.parse(child.stdout)).toEqual({ asked: true, status: 200, handlers: ["done"] });
});
