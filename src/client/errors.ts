import { PigeonholeError } from "../base/error.js";
import { isRetryableAnswer } from "../base/http.js";
import type { ApiErrorCode } from "../contract/api-error-codes.js";
import type { FieldError } from "../contract/error-body.js";
import { InvalidInputError } from "../contract/invalid-input-error.js";

export { InvalidInputError };

// The named codes are for the editor. The service may answer with any other.
type AnyApiErrorCode = ApiErrorCode | (string & {});

/** What an {@link ApiError} is made of. */
export interface ApiErrorInput extends Pick<ApiError, "status" | "param" | "requestId" | "retryAfterMs"> {
  /** Name of the call, such as `webhooks.get`. */
  call: string;
  /** The service's code, or one of this package; see docs/service.md#errors. */
  code: string;
  /** The service's message. */
  message: string;
  /** @default none */
  fields?: ApiError["fields"];
  /** @default 1 */
  attempts?: number | undefined;
}

/**
 * The service answered with an error, or with an answer that cannot be used. `code` is the service's, even one that
 * this version does not know. One class per family of statuses extends it.
 */
export class ApiError extends PigeonholeError<AnyApiErrorCode> {
  override readonly name: string = "ApiError";
  /**
   * HTTP status. 2xx with the code `invalid_answer` or `answer_too_large`: the call took effect, but the answer cannot
   * be used. 0: an upload was answered with a redirect.
   */
  readonly status: number;
  /** Field or dotted path that the error is about; undefined when the service named none. */
  readonly param: string | undefined;
  /** What is wrong with the answers of a sign-up; undefined for every other error. */
  readonly fields: readonly FieldError[] | undefined;
  /** The service's id of the request, for its support; undefined when it gave none. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait, in milliseconds; undefined when it does not say. */
  readonly retryAfterMs: number | undefined;
  /** Tries of the call until this answer, with the one that it answers: 1 unless the call was retried. */
  readonly attempts: number;
  /** True for 408, 425, 429 and 5xx: the same call may succeed later. */
  readonly retryable: boolean;

  constructor(input: ApiErrorInput) {
    const { call, status, code, message, param, fields, requestId, retryAfterMs, attempts = 1 } = input;
    const details = [`HTTP ${status}`, code, ...(param === undefined ? [] : [`param ${param}`])];
    if (requestId !== undefined) details.push(`request ${requestId}`);
    super(code, `${call}: ${message} (${details.join(", ")})`);
    this.status = status;
    this.param = param;
    this.fields = fields;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
    this.attempts = attempts;
    this.retryable = isRetryableAnswer(status);
  }

  /** True: the message is the service's, which may quote what was sent. */
  override get mayQuote(): boolean {
    return true;
  }
}

/** 401: no credential, or one that is not valid. */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
}

/** 403: the key lacks a scope or may not do this. */
export class PermissionError extends ApiError {
  override readonly name = "PermissionError";
}

/** 404: does not exist, or is not visible to the key. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}

/** 409: the state of the resource does not allow it. */
export class ConflictError extends ApiError {
  override readonly name = "ConflictError";
}

/** 400 and 422: `param` names what is wrong. */
export class InvalidRequestError extends ApiError {
  override readonly name = "InvalidRequestError";
}

/** 429: too many; `retryAfterMs` when the service says how long to wait. */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
}

/** 5xx: a failure of the service, or of a proxy in front of it. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
}

/** Why there is no answer. */
export type NoAnswerReason = "timeout" | "connection";

/**
 * No answer came. `cause` is a copy of what fetch rejected with: name, message, stack and code, without any data of the
 * request or answer.
 */
export class NoAnswerError extends PigeonholeError {
  override readonly name = "NoAnswerError";
  /** `timeout`: no answer, or no key of an `apiKey` function, in time; `connection`: none was made, or it broke. */
  readonly reason: NoAnswerReason;
  /** False when no connection was made; otherwise the service may have received the request and acted on it. */
  readonly mayHaveArrived: boolean;
  /** The same call may succeed later; where it `mayHaveArrived`, it may then take effect twice. */
  readonly retryable = true;

  constructor(input: Pick<NoAnswerError, "reason" | "mayHaveArrived" | "message" | "cause"> & { call: string }) {
    const { call, reason, mayHaveArrived, message, cause } = input;
    const effect = mayHaveArrived ? "it may have taken effect" : "nothing arrived there";
    super("no_answer", `${call}: ${message}; ${effect}.`, cause === undefined ? {} : { cause });
    this.reason = reason;
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** The error for a status, of the class for it. */
export function apiErrorFor(input: ApiErrorInput): ApiError {
  const { status } = input;
  if (status === 400 || status === 422) return new InvalidRequestError(input);
  if (status === 401) return new AuthenticationError(input);
  if (status === 403) return new PermissionError(input);
  if (status === 404) return new NotFoundError(input);
  if (status === 409) return new ConflictError(input);
  if (status === 429) return new RateLimitError(input);
  return status >= 500 ? new ServerError(input) : new ApiError(input);
}
