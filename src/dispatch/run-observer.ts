/** What is known about a run before it begins. */
export interface RunInfo {
  handler: string;
  eventType: string;
  eventId: string;
  attempt: number;
}

/** `done`, `retry`, `dead`, or `lost`. */
export type RunOutcome = "done" | "retry" | "dead" | "lost";

/** Watches handler runs; the receiver gives one to OpenTelemetry where that is installed. */
export interface RunObserver {
  beginRun(info: RunInfo): RunSpan;
}

/** One run and its settlement. */
export interface RunSpan {
  /** Calls `run` once, inside the span. */
  within<Result>(run: () => Promise<Result>): Promise<Result>;
  /** The run is settled. */
  end(outcome: RunOutcome): void;
}
