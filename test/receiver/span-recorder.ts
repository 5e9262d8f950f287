import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, ROOT_CONTEXT, context, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";

/** Keeps the active span over `await` and over what is begun in it, as the SDK for Node does. */
function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, fn, thisArg, ...args) => storage.run(active, () => fn.call(thisArg, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

/** Records all spans of the tests of a file. */
export function useSpanRecorder() {
  const spans = new InMemorySpanExporter();
  beforeAll(() => {
    context.setGlobalContextManager(createContextManager());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  });
  beforeEach(() => spans.reset());
  afterAll(() => {
    trace.disable();
    context.disable();
  });
  const named = (name: string): ReadableSpan[] => spans.getFinishedSpans().filter((span) => span.name === name);
  return {
    /** All that have ended. */
    get ended(): readonly ReadableSpan[] {
      return spans.getFinishedSpans();
    },
    /** The spans of this name that have ended, in that order. */
    named,
    /** Waits until so many spans of this name have ended. */
    async untilEnded(name: string, count: number): Promise<ReadableSpan[]> {
      await expect.poll(() => named(name).length, { interval: 5 }).toBeGreaterThanOrEqual(count);
      return named(name);
    },
  };
}

/** Which span it is, in two ids. */
export const idOf = (span: ReadableSpan): string => `${span.spanContext().traceId} ${span.spanContext().spanId}`;

/** The spans that it has links to. */
export const linksOf = ({ links }: ReadableSpan): string[] =>
  links.map(({ context: { traceId, spanId } }) => `${traceId} ${spanId}`);
