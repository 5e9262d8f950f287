/** The states that work with an error can be in, and their words: what is pending has failed before. */
export const FAILED_STATES = [
  { state: "dead", word: "dead" },
  { state: "parked", word: "parked" },
  { state: "pending", word: "retrying" },
  { state: "leased", word: "running" },
] as const;
