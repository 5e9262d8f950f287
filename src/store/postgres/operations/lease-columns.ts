import type { Lease } from "../../work.js";

/** The leases as columns of `unnest`. */
export function leaseColumns(leases: readonly Lease[]) {
  return {
    seqs: leases.map(({ seq }) => seq),
    handlers: leases.map(({ handler }) => handler),
    tokens: leases.map(({ token }) => token),
  };
}
