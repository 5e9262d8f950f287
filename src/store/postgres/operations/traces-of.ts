import type { TraceContext } from "../../trace-context.js";

/**
 * A column for `unnest`, which fills up a list that is shorter than the others with NULL: without telemetry nothing is
 * sent.
 */
export function tracesOf(rows: readonly { trace?: TraceContext | undefined }[]): (TraceContext | null)[] {
  return rows.some(({ trace }) => trace !== undefined) ? rows.map(({ trace = null }) => trace) : [];
}
