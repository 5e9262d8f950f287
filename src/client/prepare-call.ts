import type { BoundOperation } from "../contract/bind-operations.js";
import { findBatchRefusal, findChangedByJson } from "../contract/check-batch.js";
import { countEvents } from "../contract/count-events.js";
import { checkInput, type ValidationCode } from "../contract/check-input.js";
import { IDEMPOTENCY_KEY_HEADER, idempotencyKey } from "../contract/idempotency-key.js";
import { type Operation, pathNames, takesIdempotencyKey } from "../contract/operation.js";
import { encodeQueryValue } from "../contract/query-text.js";
import type { WireRequest } from "./attempt.js";
import type { BatchCallOptions } from "./call-types.js";
import { InvalidInputError } from "./errors.js";
import { isRepeatable } from "./retry.js";

/** The arguments of a call by their meaning. */
export interface CallArguments {
  params: Record<string, unknown>;
  body: unknown;
  query: unknown;
  options: BatchCallOptions;
}

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
  const input = operation.body === undefined ? undefined : rest.shift();
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
export function prepareCall(bound: BoundOperation, args: CallArguments, baseUrl: string, nowMs: number): PreparedCall {
  const { call, operation, path } = bound;
  const { params, query, options } = args;
  const checkedParams = operation.params === undefined ? {} : check(bound, operation.params, params);
  const checkedQuery = operation.query === undefined ? {} : check(bound, operation.query, query);
  const body = options.invalidEvents === "send" ? checkBatch(bound, args.body) : checkBody(bound, args.body, nowMs);
  const key = options.idempotencyKey;
  return {
    ...bound,
    request: {
      call,
      method: operation.method,
      url: baseUrl + fillPath(path, checkedParams) + queryString(checkedQuery),
      headers: {
        accept: "application/json",
        // No compression, so that a small answer cannot become a large one.
        "accept-encoding": "identity",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { [IDEMPOTENCY_KEY_HEADER]: key }),
      },
      // Serialized once, so that every attempt sends the same bytes.
      body: body === undefined ? undefined : JSON.stringify(body),
    },
    events: countEvents(operation, body),
    isRepeatable: isRepeatable(operation, key),
    signal: options.signal,
  };
}

function checkBody(bound: BoundOperation, given: unknown, nowMs: number): Record<string, unknown> | undefined {
  const { call, operation } = bound;
  if (operation.body === undefined) return undefined;
  const body = check(bound, operation.body, given);
  const late = operation.clockRule?.(body as never, nowMs);
  if (late !== undefined) throw new InvalidInputError(call, late);
  return body;
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
  const checked = checkInput(schema, input, operation.issueCodes);
  if (!checked.ok) throw new InvalidInputError(call, checked.issue);
  return checked.value;
}

function checkOptions(call: string, operation: Operation, options: unknown): BatchCallOptions {
  if (typeof options !== "object" || options === null) {
    throw refuse(call, "invalid_parameter", "", "The last argument must be an object of options.");
  }
  const allowed = [
    "signal",
    ...(takesIdempotencyKey(operation) ? ["idempotencyKey"] : []),
    ...(operation.events === "each" ? ["invalidEvents"] : []),
  ];
  // With a misspelt idempotencyKey, the call might take effect twice.
  const unknown = Object.keys(options).find((name) => !allowed.includes(name));
  if (unknown !== undefined) throw refuse(call, "unknown_parameter", unknown, "This call has no such option.");
  const { signal, idempotencyKey: key, invalidEvents } = options as BatchCallOptions;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw refuse(call, "invalid_parameter", "signal", "Must be an AbortSignal.");
  }
  if (invalidEvents !== undefined && invalidEvents !== "refuse" && invalidEvents !== "send") {
    throw refuse(call, "invalid_parameter", "invalidEvents", 'Must be "refuse" or "send".');
  }
  if (key === undefined) return { signal, invalidEvents };
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
