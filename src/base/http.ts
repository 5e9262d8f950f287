/**
 * True for an answer after which the same request may still succeed later: 408, 425, 429 and 5xx. The service tries a
 * delivery again after these and no others, and so do we with a call of its API. See docs/service.md#retries.
 */
export function isRetryableAnswer(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
}
