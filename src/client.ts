export { createClient } from "./client/create-client.js";
export type { ClientOptions } from "./client/options.js";
export type { CallOptions, Client, PagePromise } from "./client/call-types.js";
export type { AnswerOf, CallName, BodyOf, QueryOf } from "./client/named-types.js";
export type { Download } from "./client/download.js";
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  InvalidInputError,
  InvalidRequestError,
  NoAnswerError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from "./client/errors.js";
export type { ApiErrorCode } from "./contract/api-error-codes.js";
export { type ContactEventInput, EVENT_LIMITS, checkContactEvent } from "./contract/contact-event.js";
export type { ValidationIssue } from "./contract/check-input.js";
export type { Page } from "./contract/paging.js";
