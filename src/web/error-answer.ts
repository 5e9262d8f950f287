import { errorMessage } from "../base/error-text.js";
import { isPigeonholeError } from "../base/error.js";
import { PageApiError } from "./page-api-error.js";
import { type WebAnswer, jsonAnswer } from "./web-answer.js";

/** The answer for a thrown value: with what this package says, and on the developer's own page with any message. */
export function errorAnswer(error: unknown): WebAnswer {
  const { status, code, message, param } = asPageApiError(error);
  return jsonAnswer(status, { code, message, param });
}

/** A thrown value as one of a page's API. */
export function asPageApiError(error: unknown): PageApiError {
  if (error instanceof PageApiError) return error;
  if (!isPigeonholeError(error)) return new PageApiError(500, { code: "internal_error", message: errorMessage(error) });
  return new PageApiError(statusFor(error.code), error);
}

function statusFor(code: string): number {
  switch (code) {
    case "not_found":
    case "no_capture":
      return 404;
    case "body_dropped":
      return 409;
    case "store_busy":
    case "store_full":
    case "store_failed":
    case "store_corrupt":
    case "store_replaced":
    case "store_unreachable":
    case "store_not_primary":
    case "server_unusable":
    case "stopped":
      return 503;
    default:
      return 400;
  }
}
