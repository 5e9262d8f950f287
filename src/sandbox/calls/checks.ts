import type { BoundOperation } from "../../contract/bind-operations.js";
import type { CredentialShape } from "../../contract/credential-shape.js";
import type { Operation } from "../../contract/operation.js";
import { SandboxApiError, type Caller } from "../api/api-handlers.js";
import type { ApiKeyRegistry } from "../access/api-key-registry.js";
import { authenticate, requireAuthority, requireOpen } from "./authenticate.js";
import type { OperationMatch } from "./match-route.js";
import { checkParams, readBody, readIdempotencyKey, readOperationQuery } from "./read-input.js";

/** A request on its way through the checks. */
export interface IncomingCall {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly ip?: string | undefined;
  readonly search: string;
  readonly bytes: Uint8Array;
  readonly match: OperationMatch;
  readonly keys: ApiKeyRegistry;
  readonly shape: CredentialShape;
  /** Largest body of the operation, in bytes. */
  readonly bodyLimit: number;
  readonly nowMs: number;
  /** The caller, once its credential is checked; undefined for an operation without one. */
  readonly known: { caller: Caller | undefined };
}

/** What the checks have read of a call. */
export interface CheckedInput {
  query: Record<string, unknown>;
  idempotencyKey: string | undefined;
  /** The JSON body; undefined when it has none. */
  json: Record<string, unknown> | undefined;
  /** The body that the handler gets: the JSON, or the bytes of an upload. */
  body: unknown;
}

/** A call whose operation is known. */
interface FoundCall {
  call: IncomingCall;
  operation: Operation;
  params: Readonly<Record<string, string>>;
  input: CheckedInput;
}

/** One check of the table. Each `run` throws a SandboxApiError. */
type Check = {
  readonly name: string;
  /** What it refuses, as in docs/service.md#order-of-checks. */
  readonly refuses: string;
} & (
  | { readonly stage: "entry"; readonly run: (call: IncomingCall) => void }
  | { readonly stage: "input"; readonly run: (call: FoundCall) => void }
  // Made by the handler, which has the rows.
  | { readonly stage: "handler" }
);

/** Every check of a call, in order: the first that refuses gives the answer. The order is assumed. */
export const CHECKS = [
  {
    name: "credential",
    refuses: "401, or 403 `inactive_api_key`",
    stage: "entry",
    run(call) {
      // A path that nothing has needs a key too, so that nobody without one learns which paths there are.
      const isPublic = call.match.kind === "found" && call.match.bound.operation.credential === "none";
      if (!isPublic)
        call.known.caller = authenticate(call.headers[call.shape.header.toLowerCase()], call.keys, call.shape);
    },
  },
  {
    name: "path",
    refuses: "404 for a path that no operation has, 405",
    stage: "entry",
    run: ({ match }) => requireFound(match),
  },
  {
    name: "scope",
    refuses: "403 `owner_only`, `insufficient_scope`, `step_up_required`, in this order",
    stage: "input",
    run({ call: { known }, operation }) {
      if (known.caller !== undefined) requireAuthority(known.caller, operation);
    },
  },
  {
    name: "query",
    refuses: "a query parameter",
    stage: "input",
    run({ call, operation, input }) {
      input.query = readOperationQuery(operation, call.search);
    },
  },
  {
    name: "header",
    refuses: "400 `invalid_idempotency_key`",
    stage: "input",
    run({ call, operation, input }) {
      input.idempotencyKey = readIdempotencyKey(operation, call.headers);
    },
  },
  {
    name: "body",
    refuses: "413, and what breaks a rule of the body",
    stage: "input",
    run({ call: { bytes, bodyLimit, nowMs }, operation, input }) {
      Object.assign(input, readBody(operation, { bytes, bodyLimit, nowMs }));
    },
  },
  {
    name: "reach",
    refuses:
      "422 `capability_unsupported` for a caller of some addresses where every route is closed to it: chats, contacts and their events",
    stage: "input",
    run({ call: { known }, operation }) {
      if (known.caller !== undefined) requireOpen(known.caller, operation);
    },
  },
  {
    name: "existence",
    refuses: "404, and 422 `role_not_found`, for what the path or the body names; after that a foreign cursor",
    stage: "input",
    // An id of the wrong shape; the handler looks for the others.
    run: ({ operation, params }) => checkParams(operation, params),
  },
  {
    name: "capability",
    refuses: "403 `beyond_caller_authority`, `insufficient_authority`, 422 `capability_unsupported`",
    stage: "handler",
  },
  { name: "limit", refuses: "422 `…_limit_reached`, 429", stage: "handler" },
] as const satisfies readonly Check[];

/** Name of a check. */
export type CheckName = (typeof CHECKS)[number]["name"];

/** The checks before the operation of a call is known: its credential and path. Throws a SandboxApiError. */
export function checkEntry(call: IncomingCall): { bound: BoundOperation; params: Readonly<Record<string, string>> } {
  for (const check of CHECKS) if (check.stage === "entry") check.run(call);
  return requireFound(call.match);
}

/** The checks of what was sent for an operation. Throws a SandboxApiError. */
export function checkInputOf(
  call: IncomingCall,
  operation: Operation,
  params: Readonly<Record<string, string>>,
): CheckedInput {
  const input: CheckedInput = { query: {}, idempotencyKey: undefined, json: undefined, body: undefined };
  for (const check of CHECKS) if (check.stage === "input") check.run({ call, operation, params, input });
  return input;
}

function requireFound(match: OperationMatch): Extract<OperationMatch, { kind: "found" }> {
  switch (match.kind) {
    case "unknown_path":
      throw new SandboxApiError({ code: "resource_not_found" });
    case "wrong_method": {
      const headers = { allow: match.allow };
      throw new SandboxApiError({ status: 405, code: "method_not_allowed", message: `Use ${match.allow}.`, headers });
    }
    case "found":
      return match;
  }
}
