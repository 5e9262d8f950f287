import { findBatchRefusal } from "../../contract/check-batch.js";
import { checkCallInput } from "../../contract/check-call-input.js";
import { checkInput } from "../../contract/check-input.js";
import { type Operation, takesIdempotencyKey } from "../../contract/operation.js";
import { decodeQueryText } from "../../contract/query-text.js";
import { IDEMPOTENCY_KEY_HEADER, idempotencyKey, isTimestamp } from "../../contract/shapes.js";
import { SandboxApiError, inputRefusal } from "../api/api-handlers.js";

/** Throws `404` for a path parameter of the wrong shape: no resource has such an id. */
export function checkParams(operation: Operation, params: Readonly<Record<string, string>>): void {
  if (operation.params === undefined || checkInput(operation.params, params).ok) return;
  const { missing: code = "resource_not_found" } = operation;
  const about = code === "role_not_found" ? { param: "roleId" } : {};
  throw new SandboxApiError({ code, message: "Nothing has this id.", ...about });
}

/** The query, checked; throws a SandboxApiError. */
export function readOperationQuery(operation: Operation, search: string): Record<string, unknown> {
  const fields: Record<string, unknown> = operation.query?.shape ?? {};
  const input: Record<string, unknown> = {};
  for (const [name, text] of new URLSearchParams(search)) {
    if (!Object.hasOwn(fields, name)) throw inputRefusal({ code: "unknown_parameter", param: name, message: NO_SUCH });
    if (Object.hasOwn(input, name))
      throw inputRefusal({ code: "invalid_parameter", param: name, message: "Is there twice." });
    input[name] = decodeQueryText(fields[name], text);
  }
  if (operation.query === undefined) return {};
  const checked = checkCallInput(operation, operation.query, input);
  if (checked.ok) return checked.value;
  // A date that cannot be read is 400, any other parameter 422.
  throw inputRefusal(checked.issue, isTimestamp(fields[checked.issue.param]) ? 400 : undefined);
}

const NO_SUCH = "There is no such parameter.";

/** The header Idempotency-Key, if the operation accepts one; throws 400 `invalid_idempotency_key`. */
export function readIdempotencyKey(operation: Operation, headers: Readonly<Record<string, string | undefined>>) {
  const key = headers[IDEMPOTENCY_KEY_HEADER];
  if (key === undefined || !takesIdempotencyKey(operation)) return undefined;
  const checked = checkInput(idempotencyKey, key);
  if (checked.ok) return key;
  throw inputRefusal({ code: "invalid_idempotency_key", param: "Idempotency-Key", message: checked.issue.message });
}

/** The body, as JSON and as the handler gets it; throws a SandboxApiError. */
export function readBody(
  operation: Operation,
  { bytes, maxBytes, nowMs }: { bytes: Uint8Array; maxBytes: number; nowMs: number },
) {
  requireSize(bytes, maxBytes);
  const json = readJsonBody(operation, bytes, nowMs);
  return { json, body: operation.uploads === undefined ? json : readUpload(bytes) };
}

/**
 * The body, checked by the schema and the clock rule; throws a SandboxApiError. A batch is refused as a whole only for
 * its shape. Members that break a rule fail one by one, later. If the operation takes no body, a received body is
 * ignored.
 */
function readJsonBody(operation: Operation, bytes: Uint8Array, nowMs: number): Record<string, unknown> | undefined {
  const { body: schema, clockRule } = operation;
  if (schema === undefined) return undefined;
  // A body without a required field may be missing.
  const body = bytes.byteLength === 0 && schema.safeParse({}).success ? {} : parseJsonBody(bytes);
  if (operation.events === "each") {
    const refusal = findBatchRefusal(operation, body);
    if (refusal !== undefined) throw inputRefusal(refusal);
    return body as Record<string, unknown>;
  }
  const checked = checkCallInput(operation, schema, body);
  if (!checked.ok) throw inputRefusal(checked.issue);
  const late = clockRule?.(checked.value as never, nowMs);
  if (late !== undefined) throw inputRefusal(late);
  return checked.value;
}

/** The bytes of an upload; throws 422 for none. */
function readUpload(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength > 0) return bytes;
  throw inputRefusal({ code: "invalid_parameter", param: "", message: "The body is empty." });
}

/** What a JSON body says; throws 400. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new SandboxApiError({ status: 400, code: "invalid_parameter", message: "The body is not JSON in UTF-8." });
  }
}

/** Throws 413 for a larger body. */
export function requireSize({ byteLength }: Uint8Array, maxBytes: number): void {
  if (byteLength <= maxBytes) return;
  const message = `The body has more than ${maxBytes} bytes.`;
  throw new SandboxApiError({ status: 413, code: "request_too_large", message });
}
