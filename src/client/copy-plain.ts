/** Deeper values stay the same objects; no input of the API is as deep. */
const MAX_DEPTH = 100;

/** A copy of plain objects and lists, and of those in them. Anything else, such as a Blob, stays the same object. */
export function copyPlain(value: unknown, copies = new Map<object, unknown>(), depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    copies.set(value, copy);
    for (const item of value) copy.push(copyPlain(item, copies, depth + 1));
    return copy;
  }
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy = Object.create(prototype) as object;
  copies.set(value, copy);
  for (const [name, field] of Object.entries(value)) {
    // An assignment to __proto__ would set the prototype.
    Object.defineProperty(copy, name, {
      value: copyPlain(field, copies, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}
