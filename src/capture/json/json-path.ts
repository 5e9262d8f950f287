/* Without node: imports, since the page uses it too. */

/** Depth of nested lists that is searched. Real data is not deeper, and a hostile body must not break a search. */
const MAX_LISTS = 100;

/**
 * The single values (texts, numbers, booleans, null) at a path. A list on the path means each of its items. A numeric
 * key can also pick one item.
 */
export function valuesAt(value: unknown, keys: readonly string[], lists = 0): unknown[] {
  const [key, ...rest] = keys;
  if (Array.isArray(value)) {
    if (lists === MAX_LISTS) return [];
    const items = value as unknown[];
    const picked = key !== undefined && /^\d+$/.test(key) ? valuesAt(items[Number(key)], rest, lists + 1) : [];
    return [...picked, ...items.flatMap((item) => valuesAt(item, keys, lists + 1))];
  }
  if (value === undefined) return [];
  if (key === undefined) return typeof value === "object" && value !== null ? [] : [value];
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return [];
  return valuesAt((value as Record<string, unknown>)[key], rest, lists);
}

/** A path as written in errors and ignore lists: `$.items[0].id`. */
export function formatPath(keys: readonly (string | number)[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === "number") return `${path}[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
  }, "$");
}
