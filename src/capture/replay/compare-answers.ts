import type { CaptureAttempt } from "../model/capture.js";
import { answerHead } from "../model/answer.js";
import { bodyJson, bodyText } from "../model/captured-body.js";
import { compareJson, type JsonDifference } from "../json/compare-json.js";

/* Without node: imports, since the page uses it too. */

/** How two answers of an app differ. */
export interface AnswerComparison {
  same: boolean;
  /** Null if it is the same. A status of null means no answer. */
  status: { before: number | null; after: number | null } | null;
  /** Null if it is the same. An outcome of null means that the answer does not say. */
  outcome: { before: string | null; after: string | null } | null;
  /** Differences of the bodies if both are JSON. */
  json: JsonDifference[];
  /** Whether the bodies differ, if they are not both JSON. */
  bodyChanged: boolean;
}

type AttemptAnswer = Pick<CaptureAttempt, "status" | "headers" | "body">;

/**
 * Compares status, outcome and body, JSON by structure. Other headers are not compared, since they differ in every
 * answer.
 */
export function compareAnswers(before: AttemptAnswer, after: AttemptAnswer): AnswerComparison {
  const status = before.status === after.status ? null : { before: before.status, after: after.status };
  const [was, is] = [answerHead(before).outcome, answerHead(after).outcome];
  const outcome = was === is ? null : { before: was, after: is };
  const [a, b] = [readJson(before), readJson(after)];
  const json = a.ok && b.ok ? compareJson(a.value, b.value) : [];
  const bodyChanged = !(a.ok && b.ok) && bodyForComparison(before) !== bodyForComparison(after);
  const same = status === null && outcome === null && json.length === 0 && !bodyChanged;
  return { same, status, outcome, json, bodyChanged };
}

function readJson({ body }: AttemptAnswer): ReturnType<typeof bodyJson> {
  return body === null ? { ok: false } : bodyJson(body);
}

function bodyForComparison({ body }: AttemptAnswer): string {
  return body === null ? "" : (bodyText(body) ?? `base64,${body.data}`);
}
