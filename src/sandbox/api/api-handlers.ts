import { API_ERROR_CODES, type ApiErrorCode, statusOfCode } from "../../contract/api-error-codes.js";
import type { ValidationIssue } from "../../contract/check-input.js";
import type { Contract } from "../../contract/contract.js";
import type { BodyInput, PathNames, QueryInput } from "../../contract/operation.js";

/** The caller of an operation, with its rights at the time of the call. See docs/service.md#callers. */
export interface Caller {
  /** `key`: an API key, which acts for the owner; `app`: an access token that the owner or a member gave an app. */
  kind: "key" | "app";
  /** Id of the key: the first 24 hex digits of its secret. Rate limits and idempotency keys belong to it. */
  keyId: string;
  /** Name of the key, or of the person that an access token acts for. */
  name: string;
  /** Events stored by a `test` key start nothing; see docs/service.md#automations. */
  mode: "live" | "test";
  /** What it may do now, such as `contacts:write`: its scopes as far as its role allows them. */
  scopes: readonly string[];
  /** The member that an access token acts for; undefined for a caller that acts for the owner. */
  member: string | undefined;
  /** The role that caps it; null for none. See docs/service.md#roles. */
  roleId: string | null;
  /** When the key expires, in milliseconds since 1970; null for never. */
  expiresAtMs: number | null;
  /** True for a key, which is never asked for a code, and for an access token whose person has verified one. */
  isVerified: boolean;
  /** Addresses that the key is narrowed to; see docs/service.md#allowlists. With both lists empty, every address. */
  addressAllowlist: readonly string[];
  /** Domains that the key is narrowed to. */
  domainAllowlist: readonly string[];
}

/**
 * One checked call: its input has passed the schemas and clock rules of the operation. One exception: a member of a
 * batch that has the right shape but breaks a rule gets through, since it fails alone (docs/service.md#batches).
 */
export interface ApiCall<Row> {
  /** Who calls; undefined for an operation without a credential. */
  caller: Row extends { credential: "none" } ? undefined : Caller;
  /** The workspace's time in milliseconds since 1970. */
  nowMs: number;
  /** Path parameters by name. */
  params: Row extends { path: infer Path extends string }
    ? Readonly<Record<PathNames<Path>[number], string>>
    : Readonly<Record<string, string>>;
  /** The query parameters; an empty object when the operation takes none. */
  query: [QueryInput<Row>] extends [never] ? Record<string, never> : QueryInput<Row>;
  /** The whole body, even if the client passes one field of it; the bytes of an upload. */
  body: Row extends { argument: infer Field extends string }
    ? Readonly<Record<Field, BodyInput<Row>>>
    : Row extends { uploads: unknown }
      ? Uint8Array
      : [BodyInput<Row>] extends [never]
        ? undefined
        : BodyInput<Row>;
  /** The header Content-Type as sent; undefined if it was not sent. */
  contentType: string | undefined;
  /** The header Referer as sent; undefined if it was not sent. */
  referer: string | undefined;
  /** The network address of the caller; undefined for a call in this process. */
  ip: string | undefined;
  /** The header, with its characters checked; undefined if it was not sent. */
  idempotencyKey: string | undefined;
  /** Counts the events of the call against the limit of the caller; throws 429. The last check of a call. */
  countEvents: () => void;
}

/** The answer: status, and JSON or the bytes of a file. */
export interface ApiAnswer {
  /** HTTP status. */
  status: number;
  /** What is sent: a Uint8Array as it is, anything else as JSON. */
  body: unknown;
  /** Further headers by lower-case name. @default none */
  headers?: Readonly<Record<string, string>>;
}

/** An answer of a handler with another status than the usual one of its operation, or with headers. */
export class SpecialAnswer {
  readonly #answer: Partial<ApiAnswer>;

  constructor(answer: Partial<ApiAnswer>) {
    this.#answer = answer;
  }

  /** The whole answer to what a handler returned. `status`: the usual one. */
  static wholeOf(returned: object, status: number): ApiAnswer {
    return { status, body: returned, ...(returned instanceof SpecialAnswer && returned.#answer) };
  }
}

/** Returns the body of the usual answer, or a {@link SpecialAnswer}. */
export type ApiHandler<Row> = (call: ApiCall<Row>) => object | Promise<object>;

/** One handler per operation of the contract. The compiler reports a missing handler for a new row. */
export type ApiHandlers = {
  [R in keyof Contract]: { [N in keyof Contract[R]]: ApiHandler<Contract[R][N]> };
};

/** Thrown by a handler to answer with an error. The message is sent, so it contains no value of the input. */
export class SandboxApiError extends Error {
  override readonly name = "SandboxApiError";
  /** HTTP status of the answer. */
  readonly status: number;
  /** The service's code; see docs/service.md#errors. */
  readonly code: string;
  /** Field or dotted path that the error is about; undefined when it is about none. */
  readonly param: string | undefined;
  /** What is wrong with the answers of a sign-up; undefined for every other error. */
  readonly fields: readonly { key: string; error: string }[] | undefined;
  /** Headers of the answer besides the usual ones, by lower-case name; empty when there are none. */
  readonly headers: Readonly<Record<string, string>>;

  /** Status and message are those of the code, unless others are given. A code that is not documented needs both. */
  constructor(
    error: (
      | { code: ApiErrorCode; status?: number; message?: string }
      | { code: string; status: number; message: string }
    ) & {
      param?: string;
      fields?: readonly { key: string; error: string }[];
      headers?: Readonly<Record<string, string>>;
    },
  ) {
    const { status, message } = error;
    super(message ?? API_ERROR_CODES[error.code as ApiErrorCode].meaning);
    this.status = status ?? statusOfCode(error.code as ApiErrorCode);
    this.code = error.code;
    this.param = error.param;
    this.fields = error.fields;
    this.headers = error.headers ?? {};
  }
}

/** The answer to a failed call: `code`, `message` and `param` at the top level; assumed. */
export function answerToError(error: unknown): ApiAnswer {
  if (!(error instanceof SandboxApiError)) {
    return { status: 500, body: { code: "internal_error", message: "The sandbox failed: internal error." } };
  }
  const { status, code, message, param, fields, headers } = error;
  // Undefined fields are not sent.
  return { status, headers, body: { code, message, param, fields } };
}

/** 422 `invalid_parameter`. */
export function invalidParameter(param: string, message: string): SandboxApiError {
  return inputRefusal({ code: "invalid_parameter", param, message });
}

/** Throws 422 unless the value is left out or one of these. A client lets values pass that are newer than itself. */
export function requireOneOf(param: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return;
  throw invalidParameter(param, `Must be one of ${choices.join(", ")}.`);
}

/** The refusal of an input. `status`: another one than its code usually has. */
export function inputRefusal({ code, param, message }: ValidationIssue, status = statusOfCode(code)): SandboxApiError {
  return new SandboxApiError({ status, code, message, ...(param === "" ? {} : { param }) });
}
