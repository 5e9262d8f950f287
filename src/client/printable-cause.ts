import { isNativeError } from "node:util/types";

/** Longest chain of causes that is followed. A circular one has no end. */
const MAX_CAUSES = 10;

/** A copy of an error of `fetch`, for the `cause` of another. */
export interface PrintableCause extends Error {
  /** Of Node and undici, such as `ECONNRESET`. */
  code?: string;
  /** Of Node, such as `connect` or `read`. */
  syscall?: string;
}

/**
 * A copy of what `fetch` rejected with that is safe to show: name, message, stack, `code` and `syscall` of each cause
 * in the chain, all passed through `redact`. Nothing else is copied: undici's parser keeps the bytes of the answer on
 * its errors, and a custom fetch may keep the request. undefined for a value that is not an error.
 */
export function copyPrintableCause(
  error: unknown,
  redact: (text: string) => string,
  depth = 1,
): PrintableCause | undefined {
  // Some test runners have their own realm, with another Error class.
  if (!(error instanceof Error || isNativeError(error))) return undefined;
  const cause = depth < MAX_CAUSES ? copyPrintableCause(error.cause, redact, depth + 1) : undefined;
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
