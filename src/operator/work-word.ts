/* Without node: imports, since the page uses it too. */

/** One handler's work on an event, as an inbox or the dev server's page has it. */
interface Work {
  state: string;
  attempts: number;
  error?: string | null | undefined;
  retryRequestedAt?: string | number | null | undefined;
  waitsFor?: string | null | undefined;
  discarded?: boolean | undefined;
}

/** What a handler makes of an event, in one word, and what the word means. */
export const PIECE_WORDS = {
  waiting: "No handler has run on it yet, or its run asked to wait.",
  running: "A handler runs, or is about to.",
  retrying: "A handler has failed and runs again.",
  "retry requested": "The receiver takes the retry up within seconds, or when it starts.",
  done: "Finished.",
  discarded: "Ended without a run.",
  dead: "Given up: attempts spent, or a permanent error.",
  parked: "Kept, but not understood, or processes died in it.",
} as const;

/** The same of an event: the most urgent word of its handlers, or what is only true of several or of none. */
export const WORK_WORDS = {
  ...PIECE_WORDS,
  "no handler": "Kept; no handler takes such an event.",
  "done and discarded": "Some handlers have finished; the work of the others was ended without a run.",
} as const;

/** What lists call work that is in a stored state: a filter by the state selects work with these words. */
export const STATE_WORDS = {
  pending: "waiting or retrying",
  leased: "running",
  dead: "dead",
  parked: "parked",
  done: "done or discarded",
} as const;

export type PieceWord = keyof typeof PIECE_WORDS;
export type WorkWord = keyof typeof WORK_WORDS;

/** Whether a handler has failed or asked to wait, and runs again. A run that ended with its process has no error. */
export function isRetrying({ state, attempts, error }: Work): boolean {
  return state === "pending" && attempts > 0 && typeof error === "string";
}

/** Whether a retry was requested that the receiver has not taken up: the error is that of the runs before. */
export function isRetryRequested({ state, attempts, error, retryRequestedAt }: Work): boolean {
  const isRequested = retryRequestedAt !== null && retryRequestedAt !== undefined;
  return isRequested || (state === "pending" && attempts === 0 && typeof error === "string");
}

/** Whether a handler's work has ended without success. */
export function isStopped(work: Work): boolean {
  return (work.state === "dead" || work.state === "parked") && !isRetryRequested(work);
}

/** The word of one handler's work. */
export function wordOfPiece(work: Work): PieceWord {
  if (isRetryRequested(work)) return "retry requested";
  switch (work.state) {
    case "dead":
    case "parked":
      return work.state;
    case "leased":
      return "running";
    case "done":
      return work.discarded === true ? "discarded" : "done";
    default:
      return isRetrying(work) && work.waitsFor !== "retry_after" ? "retrying" : "waiting";
  }
}

/** Those of an event's pieces of work that a list narrowed to a stored state is about; all without a state. */
export function piecesIn<Piece extends Work>(handlers: readonly Piece[], state: string): readonly Piece[] {
  return state === "" ? handlers : handlers.filter((each) => each.state === state);
}

/** What is wrong comes before what is under way. */
const URGENCY: readonly PieceWord[] = ["parked", "dead", "running", "retry requested", "retrying", "waiting"];

/** The word of the event: what is wrong with it before what is done. */
export function wordOfWork({ handlers }: { handlers: readonly Work[] }): WorkWord {
  if (handlers.length === 0) return "no handler";
  const words = new Set(handlers.map(wordOfPiece));
  const urgent = URGENCY.find((word) => words.has(word));
  if (urgent !== undefined) return urgent;
  if (!words.has("discarded")) return "done";
  return words.has("done") ? "done and discarded" : "discarded";
}
