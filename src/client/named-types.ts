import type { Contract } from "../contract/contract.js";
import type { BodyInput, CallResult, Operation, QueryInput } from "../contract/operation.js";

/** The name of a call, such as `labels.create`. */
export type CallName = { [R in keyof Contract]: `${R}.${keyof Contract[R] & string}` }[keyof Contract];

type Row<Name extends CallName> = Name extends `${infer R extends keyof Contract}.${infer N}`
  ? N extends keyof Contract[R]
    ? Contract[R][N] extends infer Found extends Operation
      ? Found
      : never
    : never
  : never;

/** What a call takes as its body: `BodyOf<"labels.create">`. Never for a call without a body. */
export type BodyOf<Name extends CallName> = BodyInput<Row<Name>>;

/** What a call takes as its query: `QueryOf<"files.list">`. Never for a call without a query. */
export type QueryOf<Name extends CallName> = QueryInput<Row<Name>>;

/** What a call gives, a page for a list: `AnswerOf<"labels.get">`. Never for a download. */
export type AnswerOf<Name extends CallName> = CallResult<Row<Name>>;
