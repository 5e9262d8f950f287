const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Whether an HTTP header can have this name. */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}
