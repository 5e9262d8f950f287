import { checkInput } from "../contract/check-input.js";
import { type ErrorBody, readErrorBody } from "../contract/error-body.js";
import type { Operation } from "../contract/operation.js";
import type { WireAnswer } from "./attempt.js";
import type { Credential } from "./credential.js";
import { createDownload } from "./download.js";
import { apiErrorFor } from "./errors.js";
import { readRetryAfter } from "../base/retry-wait.js";

export interface ReadAnswerDeps {
  credential: Credential;
  requestIdHeader: string;
  maxAnswerBytes: number;
  nowMs: number;
  /** Tries of the call until this answer. */
  attempts: number;
}

/** Texts of the service in an error are cut at this length, in characters. */
const MAX_TEXT_LENGTH = 500;

/** The result of a 2xx answer. Throws an ApiError for any other answer, and for one that cannot be used. */
export function readAnswer(call: string, operation: Operation, answer: WireAnswer, deps: ReadAnswerDeps): unknown {
  const { status, text, bytes, headers } = answer;
  // The service's error text will be printed. Parse it before redaction: JSON can escape a secret so that it is not
  // recognized.
  const printable = (said: string): string => deps.credential.redact(said).slice(0, MAX_TEXT_LENGTH);
  const refuse = (code: string, message: string, { param, fields }: Partial<ErrorBody> = {}) => {
    const requestId = answer.headers.get(deps.requestIdHeader);
    return apiErrorFor({
      call,
      status,
      code: printable(code),
      message: printable(message),
      param: param === undefined ? undefined : printable(param),
      fields: fields?.map(({ key, error }) => ({ key: printable(key), error: printable(error) })),
      requestId: requestId === null ? undefined : printable(requestId),
      retryAfterMs: readRetryAfter(answer.headers.get("retry-after"), deps.nowMs),
      attempts: deps.attempts,
    });
  };
  // A browser's fetch gives 0 for a redirect.
  if (status === 0 || (status >= 300 && status <= 399)) {
    throw refuse("redirect_refused", "The API answered with a redirect, which is not followed. Check baseUrl.");
  }
  if (bytes !== undefined) {
    const tooLarge = (maxBytes: number) =>
      refuse("answer_too_large", `The file has more than ${maxBytes} bytes and was not read.`);
    return createDownload({ bytes, headers, maxAnswerBytes: deps.maxAnswerBytes, tooLarge });
  }
  const succeeded = status >= 200 && status <= 299;
  if (text === undefined) {
    throw refuse("answer_too_large", "The answer is over maxAnswerBytes and was not read.");
  }
  // 204 has no body. The result's schema decides whether that is enough.
  const body = status === 204 ? { ok: true as const, value: {} } : parseJson(text);
  if (!body.ok) throw refuse("invalid_answer", `The answer is not JSON, or has more than ${MAX_DEPTH} levels.`);
  if (!succeeded) {
    const read = readErrorBody(body.value);
    const { code = "unknown_error", message = "The API answered with an error." } = read;
    throw refuse(code, message, read);
  }
  if (operation.result === undefined) return undefined;
  const result = checkInput(operation.result, body.value);
  if (result.ok) return result.value;
  const { param, message } = result.issue;
  throw refuse("invalid_answer", `The answer does not match the documentation: ${param}: ${message}`);
}

/** No answer is as deep. Code that walks one calls itself for each level, and would run out of stack. */
const MAX_DEPTH = 100;

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return isTooDeep(text) ? { ok: false } : { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length && depth <= MAX_DEPTH; at += 1) {
    const sign = text[at];
    if (sign === '"') isInText = !isInText;
    else if (isInText) at += sign === "\\" ? 1 : 0;
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
  }
  return depth > MAX_DEPTH;
}
