/**
 * The assignments that make leased work `w` of the event `e` pending again as if it had not been leased; it waits since
 * it was received. `now` is an expression.
 */
export function notLeased(now: string): string {
  return `state = 'pending', due_at = least(e.received_at, ${now}), lease = NULL, lease_until = NULL, node = NULL,
    started = w.started - 1`;
}
