import { z } from "zod";
import { wholeNumberOf } from "./shapes.js";

/** One page of a list. */
export interface Page<Row> {
  /** The rows in the order of the list; empty when there are none. */
  items: Row[];
  /** True when more rows follow. */
  hasMore: boolean;
  /** Pass it back unchanged as `cursor` for the next page; null on the last one. */
  nextCursor: string | null;
}

/** The query parameters of a list. See docs/service.md#paging: limit 1 to 100, default 25. */
export function pageQuery({ max, byDefault }: { max: number; byDefault: number } = { max: 100, byDefault: 25 }) {
  return {
    /** Rows of a page. */
    limit: wholeNumberOf(1, max).optional().describe(`1 to ${max}, default ${byDefault}`),
    /** `nextCursor` of the page before, unchanged. */
    cursor: z.string().min(1, { error: "Must be the nextCursor of the page before." }).optional(),
  };
}

/** The query parameters of a list whose `nextCursor` goes back as `pageToken`. */
export function pageTokenQuery(range?: { max: number; byDefault: number }) {
  const { limit, cursor } = pageQuery(range);
  return { limit, pageToken: cursor };
}

/**
 * Reads a page of a list. The row array is `data`, as shown for contact events, or `items`; which of the two the other
 * lists have is not shown. Drafts may give their token under its own name.
 */
export function pageOf<Row extends z.ZodType>(row: Row) {
  const cursor = z.string().nullable().default(null);
  return withRows(row, { hasMore: z.boolean(), nextCursor: cursor, pageToken: cursor }).transform(
    ({ data, items, hasMore, nextCursor, pageToken }): Page<z.output<Row>> => ({
      items: data ?? items ?? [],
      hasMore,
      nextCursor: nextCursor ?? pageToken,
    }),
  );
}

/** Reads a list that is not paged: its rows in `data` or `items`, or the array alone. Which is not shown. */
export function listOf<Row extends z.ZodType>(row: Row) {
  return z
    .union([z.array(row), withRows(row, {})])
    .transform((read): z.output<Row>[] => (Array.isArray(read) ? read : (read.data ?? read.items ?? [])));
}

/** {@link pageOf} a list whose pages say more than their rows, such as `z.object({ seen: z.boolean() })`. */
export function pageWith<Row extends z.ZodType, More extends z.ZodObject>(row: Row, more: More) {
  return z.intersection(pageOf(row), more);
}

function withRows<Row extends z.ZodType, More extends z.ZodRawShape>(row: Row, more: More) {
  const rows = z.array(row).optional();
  return z
    .looseObject({ data: rows, items: rows, ...more })
    .refine(({ data, items }) => data !== undefined || items !== undefined, { error: "Has no rows.", path: ["data"] });
}
