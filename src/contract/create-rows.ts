import { z } from "zod";
import type { ApiErrorCode } from "./api-error-codes.js";
import type { Operation } from "./operation.js";
import { pageQuery } from "./paging.js";
import type { ScopeRule } from "./scopes.js";
import { tombstoneOf } from "./shapes.js";

const read = { method: "GET", status: [200], retry: "safe" } as const;
const list = {
  ...read,
  paged: true,
  query: z.strictObject(pageQuery()),
  issueCodes: { cursor: "invalid_cursor" },
} as const;
const act = { method: "POST", status: [200], retry: "never" } as const;
const create = { ...act, status: [201, 200] } as const;
const update = { ...act, method: "PATCH" } as const;
const remove = { ...act, method: "DELETE" } as const;
const tombstone = tombstoneOf({ id: z.string() });

type Path = `/${string}`;
type Own = Partial<Operation>;
type None = Record<never, never>;
type Merged<First, Then> = Omit<First, keyof Then> & Then;
/** None where the answer is the bytes of a file. */
type ResultSchema = z.ZodType | undefined;
type Row<Usual, Result, More> = Merged<
  Usual & { scope: ScopeRule; doc: string; example: Operation["example"] } & (Result extends z.ZodType
      ? { result: Result }
      : None),
  Omit<More, "doc">
>;
/** Each row says what it does. */
type Known<More> = More & { doc: string } & { readonly [Name in Exclude<keyof More, keyof Operation>]: never };
type Said<Result, More> = [result: Result, more: Known<More>];

interface Place<All, One, Each> {
  /** The path of all things. */
  all: All;
  /** Scopes of the rows that read, and of those that change something. */
  scopes: readonly [reads: ScopeRule, writes: ScopeRule];
  /** The path of one thing, its parameters, an example of them, and the code where there is no such thing. */
  one?: { path: One; params: z.ZodObject; missing?: ApiErrorCode; example: Readonly<Record<string, string>> };
  /** What each row has. */
  each?: Each;
}

/**
 * Makes the rows of one resource. Each has what its kind and its resource say, and then what its last argument says. A
 * path that begins with that of one thing has its parameters.
 */
export function createRows<const All extends Path, const One extends Path = never, const Each extends Own = None>({
  all,
  scopes: [reads, writes],
  one,
  each,
}: Place<All, One, Each>) {
  function row<Usual extends Own & { path: Path }, Result extends ResultSchema, More extends Own>(
    usual: Usual,
    [result, more]: Said<Result, More>,
  ): Row<Usual & Each, Result, More> {
    const isOfOne = one !== undefined && (more.path ?? usual.path).startsWith(one.path);
    const { path: _, example, ...ofOne } = isOfOne ? one : { path: all, example: undefined };
    const scope = usual.method === "GET" ? reads : writes;
    const made = { scope, ...usual, ...each, ...ofOne, ...(result && { result }), ...more };
    const values = { ...(example && { params: example }), ...each?.example, ...more.example };
    return { ...made, example: values } as unknown as Row<Usual & Each, Result, More>;
  }
  const path = one?.path as One;
  return {
    /** Reads a list page by page. */
    list: <R extends ResultSchema, const M extends Own>(...said: Said<R, M>) => row({ ...list, path: all }, said),
    /** Reads one thing. */
    get: <R extends ResultSchema, const M extends Own>(...said: Said<R, M>) => row({ ...read, path }, said),
    /** Makes something with an id that the service chooses. */
    create: <R extends ResultSchema, const M extends Own>(...said: Said<R, M>) => row({ ...create, path: all }, said),
    /** Changes fields; the others stay. */
    update: <R extends ResultSchema, const M extends Own>(...said: Said<R, M>) => row({ ...update, path }, said),
    /** Deletes one thing, which has an id. */
    delete: <const M extends Own>(more: Known<M>) => row({ ...remove, path }, [tombstone, more]),
    /** Reads something at a path of its own. */
    read: <const At extends Path, R extends ResultSchema, const M extends Own>(at: At, ...said: Said<R, M>) =>
      row({ ...read, path: at }, said),
    /** Does something with what is there. */
    act: <const At extends Path, R extends ResultSchema, const M extends Own>(at: At, ...said: Said<R, M>) =>
      row({ ...act, path: at }, said),
  };
}
