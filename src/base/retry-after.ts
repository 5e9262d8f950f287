import { SECOND } from "./duration.js";

/** Reads Retry-After as milliseconds from `nowMs`: whole seconds or an HTTP date; undefined when it is neither. */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  // Date.parse accepts much that is not an HTTP date.
  if (!/^[A-Za-z]{3,9}, .* GMT$/.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
