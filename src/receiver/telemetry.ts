import type * as Api from "@opentelemetry/api";
import type { RunInfo, RunObserver } from "../dispatch/run-observer.js";
import type { Outcome } from "../protocol/outcome.js";

/** What is reported to OpenTelemetry: event ids and types only; no body, no address. */
export interface Telemetry extends RunObserver {
  /** Calls `receive` once, inside a span where there is one. */
  observeDelivery(receive: () => Promise<Outcome>): Promise<Outcome>;
}

/** Spans and metrics if the application has `@opentelemetry/api`, otherwise undefined. */
export async function loadTelemetry(pendingNow: () => Promise<number>): Promise<Telemetry | undefined> {
  try {
    const api = await import("@opentelemetry/api");
    return createOpenTelemetry(api, pendingNow);
  } catch {
    return undefined;
  }
}

function createOpenTelemetry(api: typeof Api, pendingNow: () => Promise<number>): Telemetry {
  const tracer = api.trace.getTracer("pigeonhole");
  const meter = api.metrics.getMeter("pigeonhole");
  const deliveries = meter.createCounter("pigeonhole.deliveries", { description: "Deliveries answered, by outcome." });
  const acceptTime = meter.createHistogram("pigeonhole.delivery.duration", {
    unit: "s",
    description: "From the whole body to the answer, the commit included.",
  });
  const runs = meter.createCounter("pigeonhole.handler.runs", { description: "Handler runs ended, by outcome." });
  const runTime = meter.createHistogram("pigeonhole.handler.duration", {
    unit: "s",
    description: "Handler run and settlement.",
  });
  meter
    .createObservableGauge("pigeonhole.pending", { description: "Work that waits in the inbox." })
    .addCallback(async (result) => {
      const pending = await pendingNow().catch(() => undefined);
      if (pending !== undefined) result.observe(pending);
    });

  return {
    observeDelivery: (receive) =>
      tracer.startActiveSpan("pigeonhole.receive", { kind: api.SpanKind.CONSUMER }, async (span) => {
        const begun = performance.now();
        const outcome = await receive();
        const attributes = { "pigeonhole.outcome": outcome.kind };
        span.setAttributes(attributes);
        if ("eventId" in outcome) span.setAttribute("pigeonhole.event.id", outcome.eventId);
        if ("eventType" in outcome) span.setAttribute("pigeonhole.event.type", outcome.eventType);
        if (outcome.kind === "internal_error") span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.end();
        deliveries.add(1, attributes);
        acceptTime.record((performance.now() - begun) / 1_000, attributes);
        return outcome;
      }),
    beginRun({ handler, eventId, eventType, attempt }: RunInfo) {
      const begun = performance.now();
      const span = tracer.startSpan(`pigeonhole.handle ${handler}`, {
        kind: api.SpanKind.INTERNAL,
        attributes: {
          "pigeonhole.event.id": eventId,
          "pigeonhole.event.type": eventType,
          "pigeonhole.handler": handler,
          "pigeonhole.attempt": attempt,
        },
      });
      return {
        within: (run) => api.context.with(api.trace.setSpan(api.context.active(), span), run),
        end(outcome) {
          span.setAttribute("pigeonhole.outcome", outcome);
          if (outcome !== "done") span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
          const attributes = { "pigeonhole.handler": handler, "pigeonhole.outcome": outcome };
          runs.add(1, attributes);
          runTime.record((performance.now() - begun) / 1_000, attributes);
        },
      };
    },
  };
}
