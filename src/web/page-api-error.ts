/** Body of an error answer. */
export interface PageApiErrorBody {
  code: string;
  message: string;
  /** The field that caused the error, if there is one. */
  param?: string | undefined;
}

/** An error answer of a page's API: thrown by a route, and in the page on receiving it. Status 0: no answer. */
export class PageApiError extends Error {
  override readonly name = "PageApiError";
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;

  constructor(status: number, body: PageApiErrorBody) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.param = body.param;
  }
}

/** 400 for a field that cannot be used. */
export function badField(param: string, message: string): PageApiError {
  return new PageApiError(400, { code: "invalid_parameter", message: `${param} ${message}`, param });
}
