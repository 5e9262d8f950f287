/** What an error answer says, as far as it can be read. */
export interface ErrorBody {
  code: string | undefined;
  message: string | undefined;
  /** Field or dotted path of the input that the error is about. */
  param: string | undefined;
  /** What is wrong with the answers of a sign-up. */
  fields: readonly FieldError[] | undefined;
}

/** What is wrong with one answer of a sign-up. */
export interface FieldError {
  /** Key of the form's field. */
  key: string;
  /** The service's word for it. */
  error: string;
}

/**
 * Reads the body of an error: `code`, `message` and `param` at the top level or under `error`. See
 * docs/service.md#errors; assumed.
 */
export function readErrorBody(body: unknown): ErrorBody {
  const top = isObject(body) ? body : {};
  const fields = isObject(top["error"]) ? top["error"] : top;
  return {
    code: text(fields["code"]),
    message: text(fields["message"]),
    param: text(fields["param"]),
    fields: readFields(fields["fields"]),
  };
}

function readFields(given: unknown): FieldError[] | undefined {
  if (!Array.isArray(given)) return undefined;
  return given.flatMap((one: unknown) => {
    const [key, error] = isObject(one) ? [text(one["key"]), text(one["error"])] : [];
    return key === undefined || error === undefined ? [] : [{ key, error }];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
