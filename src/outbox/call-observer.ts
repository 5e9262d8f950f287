import type { EventResult, FrozenSend } from "../store/outbox.js";
import type { TraceContext } from "../store/trace-context.js";

/** Watches the calls that send contact events; the receiver gives one to OpenTelemetry where that is installed. */
export interface CallObserver {
  /** Makes a call once, inside a span with links to those in which its events were recorded. */
  observeCall(send: FrozenSend, call: () => Promise<EventResult[]>): Promise<EventResult[]>;
  /** The span that is active in the caller; undefined where none is. */
  readonly activeTrace: TraceContext | undefined;
}
