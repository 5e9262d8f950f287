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
