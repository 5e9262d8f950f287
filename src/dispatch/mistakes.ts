import { type ErrorCode, isPigeonholeError } from "../base/error.js";

/**
 * Errors of this package that end a run by a mistake in the handler. `dead`: no later attempt of the same code on the
 * same event can succeed, or each would repeat what it has done. `retry`: one may succeed. Codes that are not listed
 * are retried as well.
 */
export const MISTAKES = {
  // The options of the receiver are the same in each attempt.
  api_not_configured: "dead",
  // The function is the same in each attempt.
  commit_async: "dead",
  // Nothing was kept, so each attempt would repeat the effects of the step.
  step_not_json: "dead",
  // It ends a run only when the first commit failed, which a busy or full database causes as well.
  commit_twice: "retry",
  // The first step of the name may have failed, and the handler called it again; the first may succeed next time.
  duplicate_step: "retry",
  // The argument may be computed, as a wait that is read from an answer and given to RetryAfter.
  invalid_argument: "retry",
  // The two contact events may hold what another system answered.
  key_conflict: "retry",
  // Whether `INSERT OR ROLLBACK` ends the transaction depends on the rows that are there.
  transaction_ended: "retry",
} as const satisfies Partial<Record<ErrorCode, "dead" | "retry">>;

/** The code of a mistake that makes work dead at once. */
export type FatalMistake = {
  [Code in keyof typeof MISTAKES]: (typeof MISTAKES)[Code] extends "dead" ? Code : never;
}[keyof typeof MISTAKES];

/** The code of what was thrown, if no later attempt can succeed. */
export function fatalMistakeOf(error: unknown): FatalMistake | undefined {
  return isPigeonholeError(error) && isFatal(error.code) ? error.code : undefined;
}

/** The code may be of the service. */
function isFatal(code: string): code is FatalMistake {
  return Object.hasOwn(MISTAKES, code) && MISTAKES[code as keyof typeof MISTAKES] === "dead";
}
