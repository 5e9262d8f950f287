import type { z } from "zod";
import type { EventType } from "../protocol/event-types.js";
import type { ApiErrorCode } from "./api-error-codes.js";
import type { ClockRule, ValidationCode } from "./check-input.js";
import type { ScopeRule } from "./scopes.js";

/**
 * Whether a call may be repeated when it is unknown whether the first attempt took effect. `safe`: always, it only
 * reads. `repeatable`: always, the service documents that a repeat changes nothing. `with-key`: when it has an
 * Idempotency-Key, which such an operation accepts. `never`: only by the caller.
 */
export type RetryClass = "safe" | "repeatable" | "with-key" | "never";

/** One operation of the API, as data. The client, its types, the documentation and the sandbox derive from it. */
export interface Operation {
  /** HTTP method. */
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path under the base URL; each `{name}` is a path parameter. */
  path: `/${string}`;
  /** Set when the service's documentation shows neither method nor path. @default it shows them */
  pathIsAssumed?: true;
  /** The scopes that a key needs; null for an operation that needs none. */
  scope: ScopeRule;
  /** Set for a call of the public: no credential is sent, and the scope is null. @default a credential is sent */
  credential?: "none";
  /** Set when it is the owner's alone: an access token of a member is 403 `owner_only`. @default every caller */
  ownerOnly?: true;
  /** Set when an access token needs a verified code, otherwise 403 `step_up_required`. @default none is needed */
  stepUp?: true;
  /**
   * Set when it is closed to a caller who is limited to some addresses, whatever it asks for: 422
   * `capability_unsupported`. `callers`: to any such caller; `members`: to an app of such a member. @default it is open
   */
  closedToSome?: "callers" | "members";
  /** Path parameters by name, in the order of the path. */
  params?: z.ZodObject;
  /** Query parameters; undefined when it takes none. */
  query?: z.ZodObject;
  /** The JSON body; undefined when it has none. */
  body?: z.ZodObject;
  /** The body that an emulator on this machine takes instead. @default the same body */
  localBody?: z.ZodObject;
  /** Set when the body is the bytes of a file, at most so many, with their Content-Type. @default the body is JSON */
  uploads?: { readonly maxBytes: number };
  /** The one field of the body that a caller passes instead of the whole body. */
  argument?: string;
  /** HTTP statuses of success, the usual one first. */
  status: readonly [number, ...number[]];
  /** Reads the answer leniently: unknown fields and unknown enum values pass. Undefined when the answer is a file. */
  result?: z.ZodType;
  /** True when the answer is the bytes of a file. */
  downloads?: true;
  /** True when the result is one page of a list, walked with its `nextCursor`. */
  paged?: true;
  /** The query parameter that `nextCursor` goes back as. @default "cursor" */
  pageParam?: "cursor" | "pageToken";
  /** Longest time that the service may take, in milliseconds, if it is longer than usual. */
  timeoutMs?: number;
  /** Whether a call may be repeated when its outcome is not known. */
  retry: RetryClass;
  /** How many of the 600 events a minute a call uses: one, or the number of items in the body's `argument`. */
  events?: "one" | "each";
  /** Types of the webhook events that the service's documentation says it fires. @default it fires none */
  fires?: readonly EventType[];
  /** The code for what its path names and there is not. @default resource_not_found */
  missing?: ApiErrorCode;
  /** Codes that the service's documentation names beside those of `errorCodesOf`. @default none */
  errors?: readonly ApiErrorCode[];
  /**
   * Field → the code that the service uses when its value breaks a rule. `*` → the code for an unknown field.
   *
   * @default invalid_parameter, and unknown_parameter for `*`
   */
  issueCodes?: Readonly<Record<string, ValidationCode>>;
  /** Rules about the body that need the service's time. */
  clockRule?: ClockRule;
  /** One line. The row's docstring repeats it, for editors. */
  doc: string;
  /** Values that the schemas accept, as they are sent. */
  example: {
    params?: Readonly<Record<string, string>>;
    query?: Readonly<Record<string, unknown>>;
    body?: Readonly<Record<string, unknown>>;
  };
}

/** The operations of one resource by name. */
export type Resource = Readonly<Record<string, Operation>>;

/** Names of the `{…}` of a path, in order. */
export type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...PathNames<Rest>]
  : [];

/** What a caller passes as the body, or as the one field of it that stands for the body. */
export type BodyInput<Row> = Row extends { body: infer Body extends z.ZodObject }
  ? Row extends { argument: infer Field extends keyof z.input<Body> }
    ? z.input<Body>[Field]
    : z.input<Body>
  : never;

/** What a caller passes as the query. */
export type QueryInput<Row> = Row extends { query: infer Query extends z.ZodObject } ? z.input<Query> : never;

/** What a caller gets. */
export type CallResult<Row> = Row extends { result: infer Schema extends z.ZodType } ? z.output<Schema> : never;

/** The documented fields of what a caller gets, without those that only newer versions know. */
export type ResultFields<Row> = KnownFields<CallResult<Row>>;
type KnownFields<Result> = { [Name in keyof Result as string extends Name ? never : Name]: Result[Name] };

/** Names of the `{…}` of a path, in order. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** True when the operation accepts the header Idempotency-Key. */
export function takesIdempotencyKey(operation: Operation): boolean {
  return operation.retry === "with-key";
}

/** How many events a call with this body counts as, against the limit of events a minute. */
export function countEvents(operation: Operation, body: Record<string, unknown> | undefined): number {
  const { events, argument = "" } = operation;
  if (events === undefined) return 0;
  const list = body?.[argument];
  return events === "each" && Array.isArray(list) ? list.length : 1;
}
