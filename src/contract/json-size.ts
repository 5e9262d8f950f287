/** A value that JSON can hold unchanged. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Length in bytes of the value as JSON in UTF-8; undefined when JSON cannot represent it, as with cycles. */
export function jsonSize(value: unknown): number | undefined {
  try {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? undefined : Buffer.byteLength(text);
  } catch {
    return undefined;
  }
}

/**
 * True when the value survives JSON unchanged: no Date, NaN, undefined, hole, Map or class instance, which JSON would
 * change. It recurses, so call it only with a value that {@link jsonSize} found small.
 */
export function isJsonValue(value: unknown): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return Array.from(value).every(isJsonValue);
  if (typeof value !== "object") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isJsonValue);
}
