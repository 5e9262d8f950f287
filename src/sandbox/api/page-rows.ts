import { inputRefusal } from "./api-handlers.js";
import { type Position, decodeCursor, encodeCursor, isCursorOf } from "./cursor.js";

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
  /** The orders that the list has, the usual one first. */
  sortings: Readonly<Record<string, Sorting<Row>>>;
  /** The query parameter of the cursor, which a refusal names. @default "cursor" */
  pageParam?: string;
  /** True: a full page says that more follows, whether it does or not. @default false */
  alwaysMore?: boolean;
}

/** One order of a list. */
export interface Sorting<Row> {
  /** The position of a row: unique, and as little changed by edits as the order allows. */
  positionOf: (row: Row) => Position;
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

/**
 * The page of a list behind a cursor. It starts at the first row that sorts after the last one of the page before, so
 * rows deleted or edited between pages never break the paging. A cursor carries on in the order that it was issued in,
 * whatever order the query names. Throws 400 `invalid_cursor`. See docs/service.md#paging.
 */
export function pageRows<Row>(rows: readonly Row[], input: ListOf<Row>): PageBody<Row> {
  const { filters = [], sortings, sort, limit = 25, cursor, pageParam, alwaysMore = false } = input;
  const names = Object.keys(sortings);
  const listBy = (name: string): string => `${input.list} ${JSON.stringify(filters)} by ${name}`;
  const issued = cursor === undefined ? undefined : names.find((name) => isCursorOf(listBy(name), cursor));
  const name = issued ?? sort ?? names[0] ?? "";
  const sorting = Object.hasOwn(sortings, name) ? sortings[name] : undefined;
  if (sorting === undefined) {
    throw inputRefusal({ code: "invalid_parameter", param: "sort", message: `Must be one of ${names.join(", ")}.` });
  }
  const list = listBy(name);
  const start = cursor === undefined ? undefined : decodeCursor(list, cursor, pageParam);
  const sign = sorting.order === "ascending" ? 1 : -1;
  const following = rows
    .map((row) => ({ row, position: sorting.positionOf(row) }))
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
