import type * as Api from "@opentelemetry/api";
import { SECOND } from "../base/duration.js";
import { errorName } from "../base/error-text.js";
import { isPigeonholeError } from "../base/error.js";
import { ApiError } from "../client/errors.js";
import type { RunObserver, RunOutcome } from "../dispatch/runner.js";
import type { CallObserver } from "../outbox/outbox-sender.js";
import { sourceNameOf } from "../protocol/inbox-id.js";
import { ANSWERS, type Outcome, type OutcomeKind } from "../protocol/outcome.js";
import type { FrozenSend } from "../store/outbox.js";
import type { TraceContext } from "../store/trace-context.js";
import {
  CONSUMED_MESSAGES,
  DELIVERY_DURATION,
  GAUGES,
  type Levels,
  type Metric,
  PROCESS_DURATION,
  SYSTEM,
} from "./metrics.js";

/** What is reported to OpenTelemetry: event ids and types only; no body, no address. */
export interface Telemetry extends RunObserver, CallObserver {
  /** Calls `receive` once inside a span, with what is to be kept of that. */
  observeDelivery(receive: (trace: TraceContext | undefined) => Promise<Outcome>): Promise<Outcome>;
  /** A delivery is answered. Called once for each, also for those that are refused unread. */
  countAnswer(outcome: Outcome): void;
  /** Ends the gauges. */
  stop(): void;
}

/** In seconds, as the semantic conventions have them. */
const DURATION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Spans and metrics if the application has `@opentelemetry/api`, otherwise undefined. */
export async function loadTelemetry(readLevels: () => Promise<Levels>): Promise<Telemetry | undefined> {
  try {
    const api = await import("@opentelemetry/api");
    return createOpenTelemetry(api, readLevels);
  } catch {
    return undefined;
  }
}

function createOpenTelemetry(api: typeof Api, readLevels: () => Promise<Levels>): Telemetry {
  const tracer = api.trace.getTracer("pigeonhole");
  const meter = api.metrics.getMeter("pigeonhole");
  const acceptTime = createDuration(meter, DELIVERY_DURATION);
  return {
    countAnswer: createAnswerCount(meter),
    stop: observeLevels(meter, readLevels),
    observeDelivery: (receive) =>
      tracer.startActiveSpan("pigeonhole.receive", { kind: api.SpanKind.CONSUMER }, async (span) => {
        const begun = performance.now();
        const outcome = await receive(traceOf(span, api));
        const attributes = { "pigeonhole.outcome": outcome.kind };
        span.setAttributes({ ...attributes, ...attributesOfSource(outcome) });
        if ("eventId" in outcome) span.setAttribute("pigeonhole.event.id", outcome.eventId);
        if ("eventType" in outcome) span.setAttribute("pigeonhole.event.type", outcome.eventType);
        if (outcome.kind === "internal_error") span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.end();
        acceptTime.record((performance.now() - begun) / SECOND, attributes);
        return outcome;
      }),
    beginRun: observeRuns(api, tracer, createDuration(meter, PROCESS_DURATION)),
    observeCall: observeCalls(api, tracer),
    get activeTrace() {
      return traceOf(api.trace.getActiveSpan(), api);
    },
  };
}

function observeRuns(api: typeof Api, tracer: Api.Tracer, runTime: Api.Histogram): RunObserver["beginRun"] {
  return ({ name, batch }, run) => {
    const [{ event, work }] = run;
    const of = { handler: name, eventType: event.type };
    const begun = performance.now();
    const span = tracer.startSpan(`pigeonhole.handle ${name}`, {
      kind: api.SpanKind.INTERNAL,
      // What is active here is the delivery or the run that happened to give it its place.
      root: true,
      links: linksTo(
        run.map(({ work: { trace } }) => trace),
        api,
      ),
      attributes: {
        ...(batch && { "messaging.batch.message_count": run.length }),
        "pigeonhole.event.id": work.eventId,
        "pigeonhole.event.type": event.type,
        "pigeonhole.handler": name,
        "pigeonhole.attempt": work.attempt,
      },
    });
    return {
      get trace() {
        return traceOf(span, api);
      },
      within: (run) => api.context.with(api.trace.setSpan(api.context.active(), span), run),
      end(outcome) {
        span.setAttribute("pigeonhole.outcome", outcome);
        if (outcome !== "done") span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.end();
        runTime.record((performance.now() - begun) / SECOND, attributesOfRun(of, outcome));
      },
    };
  };
}

function createDuration(meter: Api.Meter, { name, unit, description }: Metric): Api.Histogram {
  return meter.createHistogram(name, {
    unit,
    description,
    advice: { explicitBucketBoundaries: DURATION_BOUNDS },
  });
}

/** Every outcome is there from the start, so that the first of its kind is seen as an increase. */
function createAnswerCount(meter: Api.Meter): Telemetry["countAnswer"] {
  const { name, unit, description } = CONSUMED_MESSAGES;
  const deliveries = meter.createCounter(name, { unit, description });
  const kinds = Object.keys(ANSWERS) as OutcomeKind[];
  const attributes = new Map(kinds.map((kind) => [kind, attributesOfAnswer(kind)]));
  for (const these of attributes.values()) deliveries.add(0, these);
  return (outcome) => {
    const ofKind = attributes.get(outcome.kind);
    const ofSource = attributesOfSource(outcome);
    deliveries.add(1, ofSource === undefined ? ofKind : { ...ofKind, ...ofSource });
  };
}

/** The names are those that the option `secrets` has, so there are few of them. */
function attributesOfSource(outcome: Outcome): Api.Attributes | undefined {
  const source = "eventId" in outcome ? sourceNameOf(outcome.eventId) : "";
  return source === "" ? undefined : { "pigeonhole.source": source };
}

function attributesOfAnswer(kind: OutcomeKind): Api.Attributes {
  return {
    "messaging.system": SYSTEM,
    "messaging.operation.name": "receive",
    "pigeonhole.outcome": kind,
    ...(ANSWERS[kind].status >= 300 && { "error.type": kind }),
  };
}

/**
 * The type of an event is what others call a topic, and each handler gets all events of its types. An interrupted run
 * has not failed: it runs again and counts then.
 */
function attributesOfRun(
  { handler, eventType }: { handler: string; eventType: string },
  outcome: RunOutcome,
): Api.Attributes {
  const isFailure = outcome !== "done" && outcome !== "interrupted";
  return {
    "messaging.system": SYSTEM,
    "messaging.operation.name": "process",
    "messaging.destination.name": eventType,
    "messaging.consumer.group.name": handler,
    "pigeonhole.outcome": outcome,
    ...(isFailure && { "error.type": outcome }),
  };
}

/** Returns what ends it. */
function observeLevels(meter: Api.Meter, readLevels: () => Promise<Levels>): () => void {
  const gauges = (Object.keys(GAUGES) as (keyof Levels)[]).map((level) => {
    const { name, unit, description } = GAUGES[level];
    return { level, gauge: meter.createObservableGauge(name, { unit, description }) };
  });
  const observe = async (result: Api.BatchObservableResult): Promise<void> => {
    const levels = await readLevels();
    for (const { level, gauge } of gauges) {
      const value = levels[level];
      if (value !== undefined) result.observe(gauge, value);
    }
  };
  const observed = gauges.map(({ gauge }) => gauge);
  meter.addBatchObservableCallback(observe, observed);
  return () => meter.removeBatchObservableCallback(observe, observed);
}

/** Makes calls to the API inside spans. A call that the client tries several times is one span. */
function observeCalls(api: typeof Api, tracer: Api.Tracer): CallObserver["observeCall"] {
  return (send, call) => {
    const links = linksTo(
      send.events.map(({ trace }) => trace),
      api,
    );
    // What is active here is what happened to wake the sender.
    const options = { kind: api.SpanKind.CLIENT, root: true, attributes: attributesOfCall(send), links };
    return tracer.startActiveSpan("pigeonhole.send", options, async (span) => {
      try {
        return await call();
      } catch (error) {
        span.setAttributes(attributesOfError(error));
        span.setStatus({ code: api.SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  };
}

function attributesOfCall({ kind, events, attempt }: FrozenSend): Api.Attributes {
  const isBatch = kind === "batch";
  return {
    "messaging.system": SYSTEM,
    "messaging.operation.name": "send",
    "messaging.operation.type": "send",
    ...(isBatch && { "messaging.batch.message_count": events.length }),
    "http.request.method": "POST",
    "url.template": isBatch ? "/events/batch" : "/events",
    "pigeonhole.attempt": attempt,
  };
}

/** Codes and classes; messages may quote what was sent. */
function attributesOfError(error: unknown): Api.Attributes {
  if (error instanceof ApiError) return { "error.type": error.code, "http.response.status_code": error.status };
  if (isPigeonholeError(error)) return { "error.type": error.code };
  return { "error.type": errorName(error) };
}

/** Vendors are to put up with a tracestate of this length; a longer one is not kept, as W3C Trace Context allows. */
const KEPT_STATE = /^[\x20-\x7e]{1,512}$/;
const TRACE = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?: (?<state>.*))?$/;

/** What is kept of a span, so that others link to it; undefined for one that nothing records. */
export function traceOf(span: Api.Span | undefined, api: typeof Api): TraceContext | undefined {
  const context = span?.spanContext();
  if (context === undefined || !api.isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const parent = `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
  const state = traceState?.serialize();
  return state !== undefined && KEPT_STATE.test(state) ? `${parent} ${state}` : parent;
}

/** Links to the spans of which these were kept, each once. */
export function linksTo(traces: readonly (TraceContext | undefined)[], api: typeof Api): Api.Link[] {
  return [...new Set(traces)].flatMap((trace) => {
    const { traceId, spanId, flags, state } = TRACE.exec(trace ?? "")?.groups ?? {};
    if (traceId === undefined || spanId === undefined || flags === undefined) return [];
    const traceState = state === undefined ? {} : { traceState: api.createTraceState(state) };
    return [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true, ...traceState } }];
  });
}
