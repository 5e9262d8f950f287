/** The assignments that end work. It keeps when, and how often it ran; `at` is an expression. */
export function ended(at: string): string {
  return `state = 'done', settled_at = ${at}, due_at = NULL, waits_since = NULL, lease = NULL, lease_until = NULL,
    node = NULL, key = NULL, waits_for_key = false, reason = NULL, error = NULL, error_type = NULL, error_group = NULL,
    failed_at = NULL`;
}
