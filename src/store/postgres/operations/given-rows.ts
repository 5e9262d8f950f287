import type { TraceContext } from "../../trace-context.js";

const columnsOf = (columns: string): [name: string, type: string][] =>
  columns.split(/,\s*/).map((column) => column.split(" ") as [string, string]);

/** Rows that a statement is given, for FROM: a list for each column, and the places from 1 on. */
export function givenRows(columns: string, name = "g", place = "place"): string {
  const lists = columnsOf(columns).map(([column, type]) => `:${column}::${type}[]`);
  const names = columnsOf(columns).map(([column]) => column);
  return `unnest(${lists.join(", ")}) WITH ORDINALITY AS ${name} (${names.join(", ")}, ${place})`;
}

/** The lists of {@link givenRows}; what a row does not have is NULL. */
export function listsOf(columns: string, rows: readonly object[]): Record<string, unknown[]> {
  const given = rows as readonly Record<string, unknown>[];
  return Object.fromEntries(columnsOf(columns).map(([column]) => [column, given.map((row) => row[column] ?? null)]));
}

/**
 * Leases as rows. Work under one is found by its key and its token, which only leased work has: with the state, a plan
 * may read through the index of all leases, which has many dead entries beside an old transaction.
 */
export const LEASES = "seq bigint, handler text, token bigint";

/** Of those given, the leases that still hold. */
export const SELECT_HOLDING = `
  SELECT g.place FROM ${givenRows(LEASES)}
  JOIN pigeonhole.inbox_work AS w ON w.seq = g.seq AND w.handler = g.handler AND w.lease = g.token`;

/**
 * The assignments that make leased work `w` of the event `e` pending again as if it had not been leased; it waits since
 * it was received. `now` is an expression.
 */
export function notLeased(now: string): string {
  return `state = 'pending', due_at = least(e.received_at, ${now}), lease = NULL, lease_until = NULL, process = NULL,
    started = w.started - 1`;
}

/**
 * A column for `unnest`, which fills up a list that is shorter than the others with NULL: without telemetry nothing is
 * sent.
 */
export function tracesOf(rows: readonly { trace?: TraceContext | undefined }[]): (TraceContext | null)[] {
  return rows.some(({ trace }) => trace !== undefined) ? rows.map(({ trace = null }) => trace) : [];
}
