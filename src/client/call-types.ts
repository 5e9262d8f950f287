import type { Contract } from "../contract/contract.js";
import type { BodyInput, Operation, PathNames, QueryInput, CallResult } from "../contract/operation.js";
import type { Page } from "../contract/paging.js";
import type { Download } from "./download.js";
import type { UploadData } from "./upload-body.js";

/** The first page when awaited, and every row of every page in `for await`. The first request is made at once. */
export type PagePromise<Row, OnePage extends Page<Row> = Page<Row>> = Promise<OnePage> & AsyncIterable<Row>;

/** Options of every call. */
export interface CallOptions {
  /** Ends the call at any point, also while it waits. The promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of a call that may carry an idempotency key. */
export interface KeyedCallOptions extends CallOptions {
  /**
   * 1 to 255 letters, digits, `_`, `.`, `:` and `-`. The same key with the same input has one effect, so this call is
   * retried with a key, and is not without one.
   */
  idempotencyKey?: string | undefined;
}

/** Options of a call that uploads a file. */
export interface UploadCallOptions extends CallOptions {
  /** The file's content type. @default that of the Blob, or `application/octet-stream` */
  contentType?: string | undefined;
}

/** What a batch does with an event that breaks a rule. */
export type InvalidEvents = "refuse" | "send";

/** Options of a call that sends a batch of events. */
export interface BatchCallOptions extends KeyedCallOptions {
  /**
   * What an event does that breaks a rule. `"refuse"`: the call rejects with InvalidInputError, and no event is sent.
   * `"send"`: an event that is `invalid_event` (its name, properties or time, or no contact) is sent with the batch;
   * the service lists it in `failed` and records the others. A batch that the service would refuse as a whole is never
   * sent: a malformed `email`, a field of the wrong type or an unknown field in one event rejects with
   * InvalidInputError.
   *
   * @default "refuse"
   */
  invalidEvents?: InvalidEvents | undefined;
}

// Named tuple members give the parameters their names in the editor.
type PathArgument = {
  email: [email: string];
  deliveryId: [deliveryId: string];
  formId: [formId: string];
  ip: [ip: string];
  linkId: [linkId: string];
  slug: [slug: string];
  stream: [stream: string];
};

type PathArguments<Names> = Names extends [infer First, ...infer Rest]
  ? [...(First extends keyof PathArgument ? PathArgument[First] : [id: string]), ...PathArguments<Rest>]
  : [];

/** What is made may need nothing said of it; a change without fields is rather a mistake. */
type BodyArguments<Row> = Row extends { argument: "events" }
  ? [events: BodyInput<Row>]
  : Row extends { body: unknown }
    ? Row extends { method: "POST" }
      ? object extends BodyInput<Row>
        ? [input?: BodyInput<Row>]
        : [input: BodyInput<Row>]
      : [input: BodyInput<Row>]
    : Row extends { uploads: unknown }
      ? [data: UploadData]
      : [];

/** A query is needed when one of its fields is. */
type QueryArguments<Row> = Row extends { query: unknown }
  ? object extends QueryInput<Row>
    ? [query?: QueryInput<Row>]
    : [query: QueryInput<Row>]
  : [];

type Options<Row extends Operation> = Row extends { events: "each" }
  ? BatchCallOptions
  : Row extends { uploads: unknown }
    ? UploadCallOptions
    : Row["retry"] extends "with-key"
      ? KeyedCallOptions
      : CallOptions;

type Reply<Row extends Operation> = Row extends { paged: true }
  ? CallResult<Row> extends Page<infer Item>
    ? PagePromise<Item, CallResult<Row>>
    : never
  : Row extends { downloads: true }
    ? Promise<Download>
    : Promise<CallResult<Row>>;

/** The function for one row of the contract: path parameters, then body, then query, then options. */
export type Call<Row extends Operation> = (
  ...args: [
    ...PathArguments<PathNames<Row["path"]>>,
    ...BodyArguments<Row>,
    ...QueryArguments<Row>,
    options?: Options<Row>,
  ]
) => Reply<Row>;

/** Functions for a whole contract, with its nesting. A homomorphic type, so that editors show the rows' docstrings. */
export type Calls<Table extends Record<keyof Table, Record<string, Operation>>> = {
  readonly [R in keyof Table]: { readonly [Name in keyof Table[R]]: Call<Table[R][Name]> };
};

/**
 * The API client: the calls of each resource, such as `client.files` and `client.webhooks`. Every call rejects with
 * InvalidInputError (nothing was sent), ApiError and its subclasses (the service answered), NoAnswerError (it did not)
 * or the reason of its signal.
 */
export interface Client extends Calls<Contract> {}

/** The part of a client that sends contact events. Any object with it can be used in place of the client there. */
export interface ContactEventSender {
  /** The two calls that send. */
  readonly contactEvents: Pick<Client["contactEvents"], "send" | "sendBatch">;
}
