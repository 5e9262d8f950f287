import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  type AnyEvent,
  type Handler,
  type Receiver,
  RetryAfter,
  type Store,
  createReceiver,
  createSqliteStore,
} from "pigeonhole";
import { TEST_SECRET } from "pigeonhole/testing";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { ada, apiOf, openService } from "../outbox/outbox-harness.js";
import type { ContactEventService } from "../support/contact-event-service.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { closeReceiver, makeEvent, post } from "../support/receiver.js";
import { startReceiver } from "../support/start-receiver.js";
import { decorateStore, tempFile } from "../support/store-in.js";
import { makeGate } from "../support/gate.js";
import { dropAfterTest } from "./shared-nodes.js";
import { idOf, linksOf, useSpanRecorder } from "./span-recorder.js";

const spans = useSpanRecorder();
const [RECEIVE, HANDLE, SEND] = ["pigeonhole.receive", "pigeonhole.handle email.sent", "pigeonhole.send"];

let service: ContactEventService;
beforeEach(async () => {
  service = await openService();
});

/** Where an application's store stays when its process ends. */
type Place = () => Store<unknown>;

/** The same application, started again each time. */
function createApp(place: Place, role: "accept" | "both" = "both"): Receiver<Record<never, never>, unknown> {
  const options = { secrets: TEST_SECRET, store: place(), logger: silentLogger, role, api: apiOf(service) };
  const receiver = createReceiver(options);
  onTestFinished(() => closeReceiver(receiver));
  return receiver;
}

function describeLinks(makePlace: () => Place): void {
  test("each run links to its delivery, and the call to the runs, each in a process of its own", async () => {
    const place = makePlace();
    const accepting = createApp(place, "accept");
    accepting.on("email.sent", () => undefined);
    await accepting.start();
    const event = makeEvent();
    await post(accepting, event);
    // Known already: what counts is the delivery that was stored.
    await post(accepting, event);
    await closeReceiver(accepting);

    service.faultOf = () => ({ status: 503 });
    const running = createApp(place);
    running.on("email.sent", (_, ctx) => {
      if (ctx.attempt === 1) throw new RetryAfter("later", 0);
      ctx.contactEvents.record(ada("seen"));
    });
    await running.start();
    await spans.untilEnded(SEND, 1);
    await closeReceiver(running);

    service.faultOf = () => undefined;
    const sending = createApp(place);
    await sending.start();
    await expect.poll(() => service.stored.length).toBe(1);
    const calls = await spans.untilEnded(SEND, 2);
    await closeReceiver(sending);

    const [delivery] = spans.named(RECEIVE).map(idOf);
    const runs = spans.named(HANDLE);
    expect(runs.map(linksOf)).toEqual([[delivery], [delivery]]);
    expect(runs.map(({ attributes }) => attributes["pigeonhole.attempt"])).toEqual([1, 2]);
    const recorder = runs.map(idOf)[1];
    expect(calls.map(linksOf)).toEqual(calls.map(() => [recorder]));
    const shared = {
      "messaging.system": "pigeonhole",
      "messaging.operation.name": "send",
      "messaging.operation.type": "send",
      "http.request.method": "POST",
      "url.template": "/events",
    };
    const failure = { "error.type": expect.any(String), "http.response.status_code": 503 };
    expect(calls[0]).toMatchObject({ kind: SpanKind.CLIENT, status: { code: SpanStatusCode.ERROR } });
    expect(calls[0]?.attributes).toEqual({ ...shared, ...failure, "pigeonhole.attempt": 1 });
    expect(calls.at(-1)).toMatchObject({ kind: SpanKind.CLIENT, status: { code: SpanStatusCode.UNSET } });
    expect(calls.at(-1)?.attributes).toEqual({ ...shared, "pigeonhole.attempt": calls.length });
    const told = JSON.stringify(calls.map(({ attributes, status, events }) => ({ attributes, status, events })));
    for (const secret of ["svc_test", "ada@", "seen"]) expect(told).not.toContain(secret);
  });

  test("the run of a batch is one span, which links to the deliveries of all its events", async () => {
    const app = createApp(makePlace());
    app.onBatch("email.sent", () => undefined, { max: 3 });
    await app.start();
    for (let count = 0; count < 3; count += 1) await post(app, makeEvent());
    const [run] = await spans.untilEnded(HANDLE, 1);
    const deliveries = spans.named(RECEIVE).map(idOf);
    expect(deliveries).toHaveLength(3);
    expect(run === undefined ? [] : linksOf(run)).toEqual(deliveries);
    expect(run?.attributes).toMatchObject({ "messaging.batch.message_count": 3, "pigeonhole.outcome": "done" });
  });

  test("the call of a batch links to each span in which its events were recorded, once", async () => {
    const place = makePlace();
    const gate = makeGate();
    const app = createApp(place);
    app.on("email.sent", async (_, ctx) => {
      await gate.passed;
      for (const name of ["one", "two"]) ctx.contactEvents.record(ada(name));
    });
    await app.start();
    service.faults.push("held");
    await app.contactEvents.record(ada("first"));
    await expect.poll(() => service.calls.length).toBe(1);
    await post(app, makeEvent());
    gate.open();
    await spans.untilEnded(HANDLE, 1);
    await trace.getTracer("test").startActiveSpan("caller", async (span) => {
      await app.contactEvents.record(ada("three"));
      span.end();
    });
    await closeReceiver(app);

    const sending = createApp(place);
    await sending.start();
    await expect.poll(() => service.stored.length).toBe(4);
    const batch = (await spans.untilEnded(SEND, 3)).at(-1) ?? expect.unreachable();
    expect(linksOf(batch)).toEqual([...spans.named(HANDLE), ...spans.named("caller")].map(idOf));
    expect(linksOf(spans.named(HANDLE)[0] ?? expect.unreachable())).toEqual(spans.named(RECEIVE).map(idOf));
    // Each begins where another span happens to be active.
    for (const span of [...spans.named(HANDLE), ...spans.named(SEND)]) expect(span.parentSpanContext).toBeUndefined();
    expect(batch.attributes).toMatchObject({ "url.template": "/events/batch", "messaging.batch.message_count": 3 });
  });
}

test("a contact event of a step links to the run that did the step", async () => {
  const recordInStep: Handler<AnyEvent> = async (_, { attempt, step, contactEvents }) => {
    await step("seen", () => contactEvents.record(ada("seen")));
    if (attempt === 1) throw new RetryAfter("later", 0);
  };
  const app = await startReceiver({ telemetry: true, api: apiOf(service) }, { "email.sent": recordInStep });
  await post(app, makeEvent());
  const [call = expect.unreachable()] = await spans.untilEnded(SEND, 1);
  const [first, second] = spans.named(HANDLE).map(idOf);
  expect(linksOf(call)).toEqual([first]);
  expect(second).not.toBe(first);
});

test("without telemetry nothing is kept, also inside a span of the app", async () => {
  const kept: unknown[] = [];
  const store = decorateStore((real) => ({
    accept: (event) => (kept.push(event.trace), real.accept(event)),
    settle: (settlement) => (
      kept.push(settlement.to === "done" && settlement.records?.[0]?.trace),
      real.settle(settlement)
    ),
    record: (event, now) => (kept.push(event.trace), real.record(event, now)),
  }));
  const app = await startReceiver(
    { telemetry: false, store, api: apiOf(service) },
    { "email.sent": (_, { contactEvents }) => contactEvents.record(ada("seen")) },
  );
  await trace.getTracer("test").startActiveSpan("caller", async (span) => {
    await post(app, makeEvent());
    await app.contactEvents.record(ada("by.app"));
    span.end();
  });
  await expect.poll(() => kept).toEqual([undefined, undefined, undefined]);
  expect(spans.named(SEND)).toEqual([]);
});

describe("in a file", () => {
  describeLinks(() => {
    const file = tempFile();
    return () => createSqliteStore({ file });
  });
});

describeOnPostgres((database) => {
  describeLinks(() => {
    dropAfterTest(database);
    return () => createPostgresStore({ connectionString: database.url, schema: database.schema });
  });
});
