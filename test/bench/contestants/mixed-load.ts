/** Names of the handlers of a mixed load; each runs for every event. */
export const MIXED_HANDLERS = ["first", "second", "third"] as const;

/** One run in so many fails, and does well when it runs again. */
export const FAILS_ONE_IN = 100;
