import type { TraceContext } from "../store/trace-context.js";

/** What is known about a run before it begins. */
export interface RunInfo {
  handler: string;
  eventType: string;
  eventId: string;
  attempt: number;
  /** The span of the delivery; undefined where none was kept. */
  trace: TraceContext | undefined;
  /** The spans of the deliveries of the other events of a batch. @default no batch */
  others?: readonly (TraceContext | undefined)[];
}

/**
 * What became of a run. `interrupted`: the store failed under it, so it does not count and its work runs again.
 * `lost`: its lease has a new holder, or the store is broken.
 */
export type RunOutcome = "done" | "retry" | "dead" | "interrupted" | "lost";

/** Watches handler runs; the receiver gives one to OpenTelemetry where that is installed. */
export interface RunObserver {
  beginRun(info: RunInfo): RunSpan;
}

/** One run and its settlement. */
export interface RunSpan {
  /** What is kept of the span with what the run records. */
  readonly trace: TraceContext | undefined;
  /** Calls `run` once, inside the span. */
  within<Result>(run: () => Promise<Result>): Promise<Result>;
  /** The run is settled. */
  end(outcome: RunOutcome): void;
}
