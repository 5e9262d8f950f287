/**
 * True for an answer after which the same request may still succeed later: 408, 425, 429 and 5xx. The service tries a
 * delivery again after these and no others, and so do we with a call of its API. See docs/service.md#retries.
 */
export function isRetryableAnswer(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Whether an HTTP header can have this name. */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}
