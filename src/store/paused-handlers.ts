/** Longest name of a handler, in characters. */
export const MAX_HANDLER_NAME_LENGTH = 200;

/** A handler that gets no work until a person resumes it. */
export interface PausedHandler {
  /** Name of the handler; it need not be registered. */
  handler: string;
  /** When it was paused, ISO 8601. */
  since: string;
  /** Who paused it, as the dashboard's `allow` named them; `cli` for the command line. */
  by: string;
}

/** A handler that receivers of the store have had, that has failed work, or that is paused. */
export interface StoredHandler {
  /** Name of the handler. */
  handler: string;
  /** `maxAttempts` of its retry policy when its receiver last started; null for a name that no receiver has had. */
  maxAttempts: number | null;
  /** Whether it has work in a group of errors. */
  hasFailed: boolean;
  /** Since when, ISO 8601, and who has paused it; null while it runs as usual. */
  paused: { since: string; by: string } | null;
}

/** Pauses and resumes handlers in all processes of a store. Each process honours it within about 2 seconds. */
export interface HandlerPauses {
  /**
   * No process leases work of the handler from then on; runs that have begun end as ever, and work that waits in a
   * process for a free place goes back with its attempts unspent. False when it was paused already; then nothing is
   * changed.
   */
  pauseHandler(handler: string, by: string): Promise<boolean>;
  /** Its work is leased again. False when it was not paused. */
  resumeHandler(handler: string): Promise<boolean>;
  /** What the store knows of handlers, in the order of their names. */
  listHandlers(): Promise<StoredHandler[]>;
}
