import { createHmac } from "node:crypto";
import { SandboxApiError, inputRefusal } from "./api-handlers.js";

/** What a caller asks of a list. */
export interface PageQuery {
  /** The order that the caller asks for. @default the usual one */
  sort?: string | undefined;
  /** Rows of a page. @default 25 */
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** What a list is, beside its rows. */
export interface ListOf<Row> extends PageQuery {
  /** Name of the list, with its owner. With the filters, it is what a cursor belongs to: another one is refused. */
  list: string;
  /** The caller's filters, and what else decides which rows there are. @default none */
  filters?: readonly unknown[];
  /** The orders that the list has, the usual one first. @default newest first */
  sortings?: Readonly<Record<string, Sorting<Row>>>;
  /** The query parameter of the cursor, which a refusal names. @default "cursor" */
  pageParam?: string;
  /** True: a full page says that more follows, whether it does or not. @default false */
  alwaysMore?: boolean;
}

/** A row with its number in the order of creation. */
export interface Numbered<Row> {
  row: Row;
  sequence: number;
}

/** One order of a list. */
export interface Sorting<Row> {
  /** The position of a row: unique, and as little changed by edits as the order allows. `sequence`: its number. */
  positionOf: (row: Row, sequence: number) => Position;
  /** By position. @default "descending" */
  order?: "ascending" | "descending";
}

/** A page as it is sent. */
export interface PageBody<Row> {
  object: "list";
  data: Row[];
  hasMore: boolean;
  nextCursor: string | null;
}

const NEWEST: Readonly<Record<string, Sorting<unknown>>> = { newest: { positionOf: (_, sequence) => [sequence] } };

/**
 * The page of a list behind a cursor. It starts at the first row that sorts after the last one of the page before, so
 * rows deleted or edited between pages never break the paging. A cursor carries on in the order that it was issued in,
 * whatever order the query names. Throws 400 `invalid_cursor`. See docs/service.md#paging.
 */
export function pageRows<Row>(rows: readonly Numbered<Row>[], input: ListOf<Row>): PageBody<Row> {
  const { filters = [], sortings = NEWEST, sort, limit = 25, cursor, pageParam, alwaysMore = false } = input;
  const names = Object.keys(sortings);
  const listBy = (name: string): string => `${input.list} ${JSON.stringify(filters)} by ${name}`;
  const issued = cursor === undefined ? undefined : names.find((name) => isCursorOf(listBy(name), cursor));
  const name = issued ?? sort ?? names[0] ?? "";
  const sorting = Object.hasOwn(sortings, name) ? sortings[name] : undefined;
  if (sorting === undefined) {
    throw inputRefusal({ code: "invalid_parameter", param: "sort", message: `Must be one of ${names.join(", ")}.` });
  }
  const list = listBy(name);
  if (cursor !== undefined && issued === undefined) throw invalidCursor(pageParam);
  const start = cursor === undefined ? undefined : decodeCursor(cursor);
  const sign = sorting.order === "ascending" ? 1 : -1;
  const following = rows
    .map(({ row, sequence }) => ({ row, position: sorting.positionOf(row, sequence) }))
    .filter(({ position }) => start === undefined || sign * comparePositions(position, start) > 0)
    .toSorted((a, b) => sign * comparePositions(a.position, b.position));
  const page = following.slice(0, limit);
  const last = page.at(-1);
  const hasMore = following.length > page.length || (alwaysMore && page.length === limit);
  return {
    object: "list",
    data: page.map(({ row }) => row),
    hasMore,
    nextCursor: hasMore && last !== undefined ? encodeCursor(list, last.position) : null,
  };
}

/** The page with each row as it is sent. */
export function pageBody<Row, Body>(page: PageBody<Row>, bodyOf: (row: Row) => Body): PageBody<Body> {
  return { ...page, data: page.data.map(bodyOf) };
}

function comparePositions(a: Position, b: Position): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined || part === other) continue;
    return part < other ? -1 : 1;
  }
  return a.length - b.length;
}

/** True for a time at or after `since` and before `until`, each of which may be left out. */
export function isWithin(
  time: string | number,
  { since, until }: { since?: string | undefined; until?: string | undefined },
): boolean {
  const atMs = new Date(time).getTime();
  return (since === undefined || atMs >= Date.parse(since)) && (until === undefined || atMs < Date.parse(until));
}

/** The position of a row in its list, compared part by part. */
export type Position = readonly (number | string)[];

/**
 * Not a secret: it only makes an invalid cursor fail, or one of another list. It is the same in every run, like
 * everything in a sandbox.
 */
const KEY = "pigeonhole sandbox cursor";

/** A position as an opaque text that only the same list accepts. `list` names it, its owner and its filters. */
function encodeCursor(list: string, position: Position): string {
  const payload = Buffer.from(JSON.stringify(position)).toString("base64url");
  return `${payload}.${macOf(list, payload)}`;
}

/** The position of a cursor that the sandbox made. */
function decodeCursor(cursor: string): Position {
  const [payload = ""] = cursor.split(".");
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as Position;
}

/** True for a cursor of this list. */
function isCursorOf(list: string, cursor: string): boolean {
  const [payload = "", mac, ...rest] = cursor.split(".");
  return rest.length === 0 && mac === macOf(list, payload);
}

/** The refusal of a cursor. See docs/service.md#paging. */
export function invalidCursor(param = "cursor"): SandboxApiError {
  return new SandboxApiError({ code: "invalid_cursor", param });
}

function macOf(list: string, payload: string): string {
  return createHmac("sha256", KEY).update(`${list}\n${payload}`).digest("base64url").slice(0, 22);
}
