import { errorMessage } from "../base/error-text.js";
import { isPigeonholeError } from "../base/error.js";
import { PageApiError, type PageApiErrorBody } from "./page-api-error.js";

/** The answer for a thrown value: with what this package says, and on the developer's own page with any message. */
export function errorAnswerFor(error: unknown): { status: number; body: PageApiErrorBody } {
  if (error instanceof PageApiError) {
    const { status, code, message, param } = error;
    return { status, body: { code, message, ...(param === undefined ? {} : { param }) } };
  }
  if (!isPigeonholeError(error)) {
    const message = errorMessage(error);
    return { status: 500, body: { code: "internal_error", message } };
  }
  return { status: statusFor(error.code), body: { code: error.code, message: error.message } };
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
