import type { TraceContext } from "../../trace-context.js";
import type { Lease } from "../../work.js";

/**
 * The leases as columns of `unnest`. Work under one is found by its key and its token, which only leased work has: with
 * the state, a plan may read through the index of all leases, which has many dead entries beside an old transaction.
 */
export function leaseColumns(leases: readonly Lease[]) {
  return {
    seqs: leases.map(({ seq }) => seq),
    handlers: leases.map(({ handler }) => handler),
    tokens: leases.map(({ token }) => token),
  };
}

/** Of those given as columns, the leases that still hold. */
export const SELECT_HOLDING = `
  SELECT g.place FROM unnest(:seqs::bigint[], :handlers::text[], :tokens::bigint[]) WITH ORDINALITY
    AS g (seq, handler, token, place)
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
