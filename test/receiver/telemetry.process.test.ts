import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { SpanKind, SpanStatusCode, metrics, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DoNotRetry } from "pigeonhole";
import { CANARY, runCanaries } from "./canary-scenario.js";
import { makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";

const spans = new InMemorySpanExporter();
const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });

beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});
beforeEach(() => {
  spans.reset();
  points.reset();
});
afterAll(async () => {
  await reader.shutdown();
  trace.disable();
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
  const receiver = openReceiver({ telemetry });
  receiver.on("email.sent", () => undefined, { name: "good" });
  receiver.on(
    "email.*",
    () => {
      throw new DoNotRetry("no");
    },
    { name: "bad" },
  );
  await receiver.start();
  const event = makeEvent();
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "done" }, "good");
  await untilWork(receiver, event.id, { state: "dead" }, "bad");
  await post(receiver, event);
  return { receiver, event };
}

test("a delivery and each run of a handler is a span", async () => {
  const { event } = await runOne(true);
  const found = spans
    .getFinishedSpans()
    .map(({ name, kind, attributes, status }) => ({ name, kind, attributes, status }));
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

test("deliveries and runs are counted by outcome, their durations are recorded, and waiting work is measured", async () => {
  const accepted = { "pigeonhole.outcome": "accepted" };
  const good = { "pigeonhole.handler": "good", "pigeonhole.outcome": "done" };
  const before = [await countOf("pigeonhole.deliveries", accepted), await countOf("pigeonhole.handler.runs", good)];
  await runOne(true);
  const after = [await countOf("pigeonhole.deliveries", accepted), await countOf("pigeonhole.handler.runs", good)];
  expect(after).toEqual(before.map((count) => count + 1));
  const found = await readPoints();
  for (const name of ["pigeonhole.delivery.duration", "pigeonhole.handler.duration", "pigeonhole.pending"]) {
    expect(found.map((point) => point.name)).toContain(name);
  }
});

test("no span and no metric contains a secret, a body or an address", async () => {
  const { signatures } = await runCanaries({
    debug() {},
    info() {},
    warn() {},
    error() {},
    child: () => expect.fail("no handler logs"),
  });
  const finished = spans.getFinishedSpans();
  expect(finished.length).toBeGreaterThan(30);
  const told = JSON.stringify([
    finished.map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
    await readPoints(),
  ]);
  expect(told).toContain("pigeonhole.handle email.sent");
  expect(told).not.toContain(CANARY);
  for (const signature of signatures) expect(told).not.toContain(signature);
});

test("the option telemetry: false makes no span and counts nothing", async () => {
  const before = await countOf("pigeonhole.deliveries", { "pigeonhole.outcome": "accepted" });
  await runOne(false);
  expect(spans.getFinishedSpans()).toEqual([]);
  expect(await countOf("pigeonhole.deliveries", { "pigeonhole.outcome": "accepted" })).toBe(before);
});

test("a receiver works without the package @opentelemetry/api", () => {
  const child = spawnSync(process.execPath, [join(import.meta.dirname, "without-telemetry.mjs")], { encoding: "utf8" });
  expect(child.stderr).toBe("");
  expect(JSON.parse(child.stdout)).toEqual({ asked: true, status: 200, handlers: ["done"] });
});
