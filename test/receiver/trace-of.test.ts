import * as api from "@opentelemetry/api";
import { expect, test } from "vitest";
import { linksTo, traceOf } from "#pigeonhole/receiver/telemetry.js";

const CONTEXT = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 1 };
const PARENT = `00-${CONTEXT.traceId}-${CONTEXT.spanId}-01`;

const traceWith = (change: Partial<api.SpanContext>) =>
  traceOf(api.trace.wrapSpanContext({ ...CONTEXT, ...change }), api);

/** As a vendor's own implementation may be. */
const stateOf = (text: string): api.TraceState => ({ ...api.createTraceState(), serialize: () => text });

test("a span is kept as its headers have it", () => {
  expect(traceWith({})).toBe(PARENT);
  expect(traceWith({ traceFlags: 0 })).toBe(PARENT.replace(/01$/, "00"));
  expect(traceWith({ traceState: api.createTraceState("vendor=1,b=2") })).toBe(`${PARENT} vendor=1,b=2`);
  expect(traceWith({ traceState: stateOf("x".repeat(512)) })).toBe(`${PARENT} ${"x".repeat(512)}`);
});

test.each(["", "x".repeat(513), "vendor=\u0000", "vendor=1\n", "vendor=é"])("the tracestate %j is not kept", (text) => {
  expect(traceWith({ traceState: stateOf(text) })).toBe(PARENT);
});

test("nothing is kept without a span that is recorded", () => {
  expect(traceOf(undefined, api)).toBeUndefined();
  expect(traceOf(api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT), api)).toBeUndefined();
});

test("a link is to the span that was kept, once for each", () => {
  const kept = `${PARENT} vendor=1`;
  const [first, ...rest] = linksTo([undefined, kept, kept, PARENT], api);
  expect(first?.context).toMatchObject({ ...CONTEXT, isRemote: true });
  expect(first?.context.traceState?.serialize()).toBe("vendor=1");
  expect(rest).toEqual([{ context: { ...CONTEXT, isRemote: true } }]);
});

test.each(["", "01", PARENT.slice(1), `${PARENT}-02`, PARENT.replace("00-", "01-")])("%j gives no link", (text) => {
  expect(linksTo([text], api)).toEqual([]);
});
