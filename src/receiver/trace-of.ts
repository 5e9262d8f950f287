import type * as Api from "@opentelemetry/api";
import type { TraceContext } from "../store/trace-context.js";

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
