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
  /** Calls `run` once, inside a span where there is one, and learns how it ended. */
  observeRun(info: RunInfo, run: () => Promise<RunOutcome>): Promise<RunOutcome>;
}
