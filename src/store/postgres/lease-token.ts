import { randomInt } from "node:crypto";

/** The process that gets leases, and the token of all that one statement gives. */
export interface LeaseHolder {
  node: number;
  /** Made before the statement, so that its leases can be found where its answer is lost. */
  token: number;
}

/** A token that no lease of the same work had before. */
export function newLeaseToken(): number {
  return randomInt(1, 2 ** 48 - 1);
}
