import type { Contract } from "../../contract/contract.js";
import type { BodyInput, QueryInput } from "../../contract/operation.js";

/** The caller of an operation, with the rights of its key. */
export interface Caller {
  /** Name of the key; rate limits and idempotency keys belong to it. */
  keyId: string;
  mode: "live" | "test";
  scopes: readonly string[];
  /** Send scope; empty lists mean every address. */
  addressAllowlist: readonly string[];
  domainAllowlist: readonly string[];
}

/**
 * One checked call: its input has passed the schemas and clock rules of the operation. One exception: a member of a
 * batch that has the right shape but breaks a rule gets through, since it fails alone (docs/service.md#batches).
 */
export interface ApiCall<Row> {
  caller: Caller;
  /** The time of the call in milliseconds since 1970. */
  nowMs: number;
  params: Readonly<Record<string, string>>;
  query: [QueryInput<Row>] extends [never] ? Record<string, never> : QueryInput<Row>;
  /** The whole body, even if the client passes one field of it. */
  body: Row extends { argument: infer Field extends string }
    ? Readonly<Record<Field, BodyInput<Row>>>
    : [BodyInput<Row>] extends [never]
      ? undefined
      : BodyInput<Row>;
  /** The header, with its characters checked; undefined if it was not sent. */
  idempotencyKey: string | undefined;
}

/** The answer: status and JSON. */
export interface ApiAnswer {
  status: number;
  body: unknown;
  headers?: Readonly<Record<string, string>>;
}

export type ApiHandler<Row> = (call: ApiCall<Row>) => ApiAnswer | Promise<ApiAnswer>;

/** One handler per operation of the contract. The compiler reports a missing handler for a new row. */
export type ApiHandlers = {
  [R in keyof Contract]: { [N in keyof Contract[R]]: ApiHandler<Contract[R][N]> };
};

/** Thrown by a handler to answer with an error. The message is sent, so it contains no value of the input. */
export class SandboxApiError extends Error {
  override readonly name = "SandboxApiError";
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(error: {
    status: number;
    code: string;
    message: string;
    param?: string;
    headers?: Readonly<Record<string, string>>;
  }) {
    super(error.message);
    this.status = error.status;
    this.code = error.code;
    this.param = error.param;
    this.headers = error.headers ?? {};
  }
}
