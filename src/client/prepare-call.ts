import type { BoundOperation } from "../contract/bind-operations.js";
import { findBatchRefusal, findChangedByJson } from "../contract/check-batch.js";
import { checkCallInput } from "../contract/check-call-input.js";
import { checkInput, type ValidationCode } from "../contract/check-input.js";
import { type Operation, countEvents, pathNames, takesIdempotencyKey } from "../contract/operation.js";
import { encodeQueryValue } from "../contract/query-text.js";
import { IDEMPOTENCY_KEY_HEADER, idempotencyKey } from "../contract/shapes.js";
import type { WireRequest } from "./attempt.js";
import type { BatchCallOptions, UploadCallOptions } from "./call-types.js";
import { InvalidInputError } from "./errors.js";
import { isRepeatable } from "./retry.js";
import { type UploadData, isUploadData, sizeOfUpload } from "./upload-body.js";

/** The arguments of a call by their meaning. */
export interface CallArguments {
  params: Record<string, unknown>;
  body: unknown;
  query: unknown;
  options: AnyCallOptions;
}

type AnyCallOptions = BatchCallOptions & UploadCallOptions;

/** A checked call. */
export interface PreparedCall extends BoundOperation {
  request: WireRequest;
  /** Number of events that it counts as; 0 for none. */
  events: number;
  isRepeatable: boolean;
  signal: AbortSignal | undefined;
}

/** Splits the arguments: path parameters in order, then body, then query, then options. */
export function splitArguments({ call, operation, path }: BoundOperation, args: readonly unknown[]): CallArguments {
  const rest = [...args];
  const params = Object.fromEntries(pathNames(operation.path).map((name) => [name, rest.shift()]));
  const given = operation.body === undefined && operation.uploads === undefined ? undefined : rest.shift();
  const isMade = operation.method === "POST" && operation.body !== undefined && operation.argument === undefined;
  const input = given === undefined && isMade ? {} : given;
  const query = operation.query === undefined ? undefined : rest.shift();
  const options = rest.shift() ?? {};
  if (rest.length > 0) throw refuse(call, "unknown_parameter", "", `There are too many arguments for ${path}.`);
  return {
    params,
    body: operation.argument === undefined ? input : { [operation.argument]: input },
    query: query ?? {},
    options: checkOptions(call, operation, options),
  };
}

/** Checks everything and builds the request. If it throws InvalidInputError, nothing was sent. */
export function prepareCall(bound: BoundOperation, args: CallArguments, baseUrl: string): PreparedCall {
  const { call, operation, path } = bound;
  const { params, query, options } = args;
  const checkedParams = operation.params === undefined ? {} : check(bound, operation.params, params);
  const checkedQuery = operation.query === undefined ? {} : check(bound, operation.query, query);
  const upload = checkUpload(bound, args.body);
  const body = options.invalidEvents === "send" ? checkBatch(bound, args.body) : checkBody(bound, args.body);
  const key = options.idempotencyKey;
  return {
    ...bound,
    request: {
      call,
      method: operation.method,
      url: baseUrl + fillPath(path, checkedParams) + queryString(checkedQuery),
      headers: {
        accept: operation.downloads === true ? "*/*" : "application/json",
        // No compression, so that a small answer cannot become a large one.
        "accept-encoding": "identity",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(upload === undefined ? {} : uploadHeaders(upload.data, options.contentType)),
        ...(key === undefined ? {} : { [IDEMPOTENCY_KEY_HEADER]: key }),
      },
      // Serialized once, so that every attempt sends the same bytes.
      body: body === undefined ? undefined : JSON.stringify(body),
      upload,
      downloads: operation.downloads === true,
    },
    events: countEvents(operation, body),
    isRepeatable: isRepeatable(operation, key),
    signal: options.signal,
  };
}

/** Without the rules about the time: what is too old or in the future, the service judges by its own clock. */
function checkBody(bound: BoundOperation, given: unknown): Record<string, unknown> | undefined {
  const { body } = bound.operation;
  return body === undefined ? undefined : check(bound, body, given);
}

/** What is uploaded. The size of a stream is not known yet. */
function checkUpload({ call, operation }: BoundOperation, data: unknown): WireRequest["upload"] {
  if (operation.uploads === undefined) return undefined;
  const { maxBytes } = operation.uploads;
  if (!isUploadData(data)) throw refuse(call, "invalid_parameter", "", "Must be bytes, a Blob or a stream of bytes.");
  const size = sizeOfUpload(data);
  if (size === 0) throw refuse(call, "invalid_parameter", "", "Must not be empty.");
  if ((size ?? 0) > maxBytes) throw refuse(call, "invalid_parameter", "", `Must have at most ${maxBytes} bytes.`);
  return { data, maxBytes };
}

function uploadHeaders(data: UploadData, given: string | undefined): Record<string, string> {
  const ofBlob = data instanceof Blob && data.type !== "" ? data.type : undefined;
  const size = sizeOfUpload(data);
  return {
    "content-type": given ?? ofBlob ?? "application/octet-stream",
    ...(size === undefined ? {} : { "content-length": String(size) }),
  };
}

/** The batch as it was given, when the service is to fail the bad events of it alone. */
function checkBatch({ call, operation }: BoundOperation, given: unknown): Record<string, unknown> {
  const refusal = findBatchRefusal(operation, given);
  if (refusal !== undefined) throw new InvalidInputError(call, refusal);
  const batch = given as { events: readonly { properties?: unknown }[] };
  const changed = findChangedByJson(batch.events);
  if (changed !== undefined) throw new InvalidInputError(call, changed);
  return batch;
}

function check({ call, operation }: BoundOperation, schema: NonNullable<Operation["body"]>, input: unknown) {
  const checked = checkCallInput(operation, schema, input);
  if (!checked.ok) throw new InvalidInputError(call, checked.issue);
  return checked.value;
}

function checkOptions(call: string, operation: Operation, options: unknown): AnyCallOptions {
  if (typeof options !== "object" || options === null) {
    throw refuse(call, "invalid_parameter", "", "The last argument must be an object of options.");
  }
  const allowed = [
    "signal",
    ...(takesIdempotencyKey(operation) ? ["idempotencyKey"] : []),
    ...(operation.events === "each" ? ["invalidEvents"] : []),
    ...(operation.uploads === undefined ? [] : ["contentType"]),
  ];
  // With a misspelt idempotencyKey, the call might take effect twice.
  const unknown = Object.keys(options).find((name) => !allowed.includes(name));
  if (unknown !== undefined) throw refuse(call, "unknown_parameter", unknown, "This call has no such option.");
  const { signal, idempotencyKey: key, invalidEvents, contentType } = options as AnyCallOptions;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw refuse(call, "invalid_parameter", "signal", "Must be an AbortSignal.");
  }
  if (invalidEvents !== undefined && invalidEvents !== "refuse" && invalidEvents !== "send") {
    throw refuse(call, "invalid_parameter", "invalidEvents", 'Must be "refuse" or "send".');
  }
  // fetch quotes a header value that it refuses.
  if (contentType !== undefined && !(typeof contentType === "string" && /^[!-~](?:[ -~]*[!-~])?$/.test(contentType))) {
    throw refuse(call, "invalid_parameter", "contentType", "Must be a content type, such as text/plain.");
  }
  if (key === undefined) return { signal, invalidEvents, contentType };
  const checked = checkInput(idempotencyKey, key);
  if (checked.ok) return { signal, invalidEvents, idempotencyKey: key };
  throw refuse(call, "invalid_idempotency_key", "idempotencyKey", checked.issue.message);
}

function refuse(call: string, code: ValidationCode, param: string, message: string): InvalidInputError {
  return new InvalidInputError(call, { code, param, message });
}

function fillPath(path: string, params: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

function queryString(query: Record<string, unknown>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const text = encodeQueryValue(value);
    if (text !== undefined) pairs.set(name, text);
  }
  return pairs.size === 0 ? "" : `?${pairs.toString()}`;
}
