import { inputRefusal } from "./api-handlers.js";
import { type Position, decodeCursor, encodeCursor, isCursorOf } from "./cursor.js";

export interface PageInput<Row> {
  /**
   * Names the list, its owner and its filters: `webhooks.deliveries whe_… failed`. A cursor of another one is refused.
   */
  list: string;
  /** Every row of the list, in any order. */
  rows: readonly Row[];
  /** The position of a row: unique, and not changed by edits. */
  positionOf: (row: Row) => Position;
  /** By position. @default "descending" */
  order?: "ascending" | "descending";
  /** @default 25 */
  limit: number | undefined;
  cursor: string | undefined;
  /** The query parameter of the cursor, which a refusal names. @default "cursor" */
  pageParam?: string | undefined;
  /** True: a full page says that more follows, whether it does or not. @default false */
  alwaysMore?: boolean | undefined;
}

/** A page as it is sent. */
export interface PageBody<Row> {
  object: "list";
  data: Row[];
  hasMore: boolean;
  nextCursor: string | null;
}

/**
 * The page behind a cursor. The next page starts at the first row that sorts after the last one, so rows deleted or
 * edited between pages never break the paging. Throws 400 `invalid_cursor`. See docs/service.md#paging.
 */
export function pageRows<Row>(input: PageInput<Row>): PageBody<Row> {
  const { list, rows, positionOf, order = "descending", limit = 25, cursor } = input;
  const sign = order === "ascending" ? 1 : -1;
  const start = cursor === undefined ? undefined : decodeCursor(list, cursor, input.pageParam);
  const following = rows
    .map((row) => ({ row, position: positionOf(row) }))
    .filter(({ position }) => start === undefined || sign * comparePositions(position, start) > 0)
    .toSorted((a, b) => sign * comparePositions(a.position, b.position));
  const page = following.slice(0, limit);
  const last = page.at(-1);
  const hasMore = following.length > page.length || (input.alwaysMore === true && page.length === limit);
  return {
    object: "list",
    data: page.map(({ row }) => row),
    hasMore,
    nextCursor: hasMore && last !== undefined ? encodeCursor(list, last.position) : null,
  };
}

/** One order of a list. */
export interface Sorting<Row> {
  /** The position of a row: unique, and as little changed by edits as the order allows. */
  positionOf: (row: Row) => Position;
  /** By position. @default "descending" */
  order?: "ascending" | "descending";
}

/**
 * The page of a list that has several orders, the usual one first. A cursor carries on in the order that it was issued
 * in, whatever order the query names.
 */
export function pageSorted<Row>(
  input: Omit<PageInput<Row>, keyof Sorting<Row>> & {
    sortings: Readonly<Record<string, Sorting<Row>>>;
    sort: string | undefined;
  },
): PageBody<Row> {
  const { sortings, sort, list, cursor, ...rest } = input;
  const names = Object.keys(sortings);
  const issued = cursor === undefined ? undefined : orderOfCursor(list, sortings, cursor);
  const name = issued ?? sort ?? names[0] ?? "";
  const sorting = Object.hasOwn(sortings, name) ? sortings[name] : undefined;
  if (sorting === undefined) {
    throw inputRefusal({ code: "invalid_parameter", param: "sort", message: `Must be one of ${names.join(", ")}.` });
  }
  return pageRows({ ...rest, ...sorting, list: `${list} by ${name}`, cursor });
}

function orderOfCursor(list: string, sortings: Readonly<Record<string, unknown>>, cursor: string): string | undefined {
  return Object.keys(sortings).find((name) => isCursorOf(`${list} by ${name}`, cursor));
}

function comparePositions(a: Position, b: Position): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined || part === other) continue;
    return part < other ? -1 : 1;
  }
  return a.length - b.length;
}
