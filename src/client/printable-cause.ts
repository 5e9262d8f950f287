import { isNativeError } from "node:util/types";

/** No chain of causes is followed further; one that goes in a circle has no end. */
const LONGEST_CHAIN = 10;

/** A copy of an error of `fetch`, for the `cause` of another. */
export interface PrintableCause extends Error {
  /** Of Node and undici, such as `ECONNRESET`. */
  code?: string;
  /** Of Node, such as `connect` or `read`. */
  syscall?: string;
}

/**
 * What can be shown of what `fetch` rejected with: name, message, stack, `code` and `syscall`, down the chain of causes, all of it through
 * `redact`. Nothing else is taken over: undici's parser keeps the bytes of the answer on its errors, and a fetch of one's own may keep
 * the request. undefined for what is no error.
 */
export function copyPrintableCause(
  error: unknown,
  redact: (text: string) => string,
  depth = 1,
): PrintableCause | undefined {
  // Some test runners have a realm of their own, and with it another Error.
  if (!(error instanceof Error || isNativeError(error))) return undefined;
  const cause = depth < LONGEST_CHAIN ? copyPrintableCause(error.cause, redact, depth + 1) : undefined;
  const options = cause === undefined ? {} : { cause };
  const said: unknown = error.message;
  const message = redact(typeof said === "string" ? said : `(${typeof said})`);
  const copy: PrintableCause =
    error instanceof TypeError ? new TypeError(message, options) : new Error(message, options);
  for (const [field, value] of [
    ["name", error.name],
    ["stack", error.stack],
  ] as const) {
    if (typeof value === "string") Object.defineProperty(copy, field, { value: redact(value), configurable: true });
  }
  if ("code" in error && typeof error.code === "string") copy.code = redact(error.code);
  if ("syscall" in error && typeof error.syscall === "string") copy.syscall = redact(error.syscall);
  return copy;
}
