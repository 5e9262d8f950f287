/** Locks events first of all, so that no process plans work for them or removes them meanwhile. */
export const LOCK_EVENTS =
  "SELECT seq FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs::bigint[]) ORDER BY seq FOR UPDATE";
