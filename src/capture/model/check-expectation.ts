import { PigeonholeError } from "../../base/error.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { outcomeOf } from "./answer.js";
import { bodyJson } from "./captured-body.js";
import type { CaptureAttempt, Expectation } from "./capture.js";
import { compareJson, describeDifference } from "../json/compare-json.js";

/* Without node: imports, since the page uses it too. */

const STATUS = /^(?:[1-5]xx|[1-5]\d\d)$/;
const MAX_DIFFERENCES = 5;

/** Reads a status as `2xx` or `503`. Throws `invalid_argument` for anything else. */
export function checkStatusPattern(status: string): string {
  if (STATUS.test(status)) return status;
  throw new PigeonholeError("invalid_argument", `The expected status must be such as 2xx or 503, got "${status}".`);
}

/**
 * Each difference between an answer and the expectation, one sentence each; empty if there is none. Ignores `handlers`.
 */
export function checkExpectation(
  { status = "2xx", outcome, json, ignore = [] }: Expectation,
  answer: Pick<CaptureAttempt, "status" | "headers" | "body" | "error">,
): string[] {
  if (answer.status === null) return [answer.error ?? "No answer came."];
  const failures: string[] = [];
  // The answer must be complete: for the sender, an incomplete body is not an answer either.
  if (answer.error !== null) failures.push(answer.error);
  if (!matchesStatus(checkStatusPattern(status), answer.status)) {
    failures.push(`Answered ${answer.status}, expected ${status}.`);
  }
  const outcomeFound = outcomeOf(answer.headers);
  if (outcome !== undefined && outcomeFound !== outcome) {
    failures.push(
      outcomeFound === undefined
        ? `The answer has no ${OUTCOME_HEADER}, expected ${outcome}.`
        : `The outcome was ${outcomeFound}, expected ${outcome}.`,
    );
  }
  return json === undefined ? failures : [...failures, ...checkJson(json, ignore, answer.body)];
}

function matchesStatus(pattern: string, status: number): boolean {
  return pattern.endsWith("xx") ? String(status).startsWith(pattern.slice(0, 1)) : pattern === String(status);
}

function checkJson(expected: unknown, ignore: readonly string[], body: CaptureAttempt["body"]): string[] {
  const json = body === null ? { ok: false as const } : bodyJson(body);
  if (!json.ok) return ["The answer's body is not JSON, expected JSON."];
  const differences = compareJson(expected, json.value, ignore);
  const shown = differences.slice(0, MAX_DIFFERENCES).map((difference) => `${describeDifference(difference)}.`);
  const left = differences.length - shown.length;
  return left > 0 ? [...shown, `And ${left} more differences.`] : shown;
}
