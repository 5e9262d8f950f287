import type { CaptureAttempt } from "../model/capture.js";
import { bodyJson, bodyText } from "../model/captured-body.js";
import { compareJson, type JsonDifference } from "../json/compare-json.js";

/* Without node: imports, since the page uses it too. */

/** How two answers of an app differ. */
export interface AnswerComparison {
  same: boolean;
  /** Null if it is the same. A status of null means no answer. */
  status: { before: number | null; after: number | null } | null;
  /** Differences of the bodies if both are JSON. */
  json: JsonDifference[];
  /** Whether the bodies differ, if they are not both JSON. */
  bodyChanged: boolean;
}

type AttemptAnswer = Pick<CaptureAttempt, "status" | "body">;

/**
 * Compares status and body, JSON by structure. Headers are not compared, since they differ in every answer. `ignore` as
 * in `compareJson`.
 */
export function compareAnswers(
  before: AttemptAnswer,
  after: AttemptAnswer,
  ignore: readonly string[] = [],
): AnswerComparison {
  const status = before.status === after.status ? null : { before: before.status, after: after.status };
  const [a, b] = [readJson(before), readJson(after)];
  const json = a.ok && b.ok ? compareJson(a.value, b.value, ignore) : [];
  const bodyChanged = !(a.ok && b.ok) && bodyForComparison(before) !== bodyForComparison(after);
  return { same: status === null && json.length === 0 && !bodyChanged, status, json, bodyChanged };
}

function readJson({ body }: AttemptAnswer): ReturnType<typeof bodyJson> {
  return body === null ? { ok: false } : bodyJson(body);
}

function bodyForComparison({ body }: AttemptAnswer): string {
  return body === null ? "" : (bodyText(body) ?? `base64,${body.data}`);
}
