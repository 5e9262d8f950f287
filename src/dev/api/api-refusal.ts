import { isPigeonholeError } from "../../base/error.js";
import type { ApiFailure } from "./page-api.js";

/** Thrown by a route to answer with an error. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;

  constructor(status: number, failure: ApiFailure) {
    super(failure.message);
    this.status = status;
    this.code = failure.code;
    this.param = failure.param;
  }
}

/** 400 for a field that cannot be used. */
export function badField(param: string, message: string): ApiRefusal {
  return new ApiRefusal(400, { code: "invalid_parameter", message: `${param} ${message}`, param });
}

/** The answer for a thrown value. The page belongs to the developer, so messages of this package are shown in full. */
export function refusalFor(error: unknown): { status: number; failure: ApiFailure } {
  if (error instanceof ApiRefusal) {
    const { status, code, message, param } = error;
    return { status, failure: { code, message, ...(param === undefined ? {} : { param }) } };
  }
  if (!isPigeonholeError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, failure: { code: "internal_error", message } };
  }
  return { status: statusFor(error.code), failure: { code: error.code, message: error.message } };
}

function statusFor(code: string): number {
  switch (code) {
    case "not_found":
    case "no_capture":
      return 404;
    case "needs_receiver":
    case "body_dropped":
      return 409;
    case "store_busy":
    case "store_full":
    case "store_failed":
    case "stopped":
      return 503;
    default:
      return 400;
  }
}
