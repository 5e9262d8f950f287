/** One moment in an event's life. */
export interface TimelineEntry {
  kind:
    | "attempt_failed"
    | "attempt_delivered"
    | "signed"
    | "received"
    | "failed"
    | "more_runs"
    | "step_done"
    | "next_run"
    | "running"
    | "waits"
    | "retry_requested"
    | "done"
    | "discarded"
    | "dead"
    | "parked"
    | "contact_event_recorded"
    | "contact_event_settled";
  /** ISO 8601; null where the time is not kept. */
  at: string | null;
  /** Null for what concerns no handler. */
  handler: string | null;
  /** Number of the run; null for what is no run. */
  attempt: number | null;
  /** One line, plain text. */
  text: string;
  /** Longer text, such as an error in full or the answer of the API; null without one. */
  detail: string | null;
  /** Key of the contact event; null for others. */
  key: string | null;
}
