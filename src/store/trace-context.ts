/**
 * A span that others link to, perhaps in another process: the value of the header traceparent of W3C Trace Context, and
 * that of tracestate after a space where there is one. Holds ids and flags only.
 */
export type TraceContext = string;
