/* Without node: imports, since the page uses it too. */

/** Lists within lists that are looked into; nobody's data goes deeper, and a hostile body must not end a search. */
const MOST_LISTS = 100;

/**
 * The single values (texts, numbers, booleans, null) at a path. A list on the way stands for each of its items; a key that is
 * a number can also pick one.
 */
export function valuesAt(value: unknown, keys: readonly string[], lists = 0): unknown[] {
  const [key, ...rest] = keys;
  if (Array.isArray(value)) {
    if (lists === MOST_LISTS) return [];
    const items = value as unknown[];
    const picked = key !== undefined && /^\d+$/.test(key) ? valuesAt(items[Number(key)], rest, lists + 1) : [];
    return [...picked, ...items.flatMap((item) => valuesAt(item, keys, lists + 1))];
  }
  if (value === undefined) return [];
  if (key === undefined) return typeof value === "object" && value !== null ? [] : [value];
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return [];
  return valuesAt((value as Record<string, unknown>)[key], rest, lists);
}

/** A path in the spelling of errors and ignore lists: `$.items[0].id`. */
export function formatPath(keys: readonly (string | number)[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === "number") return `${path}[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
  }, "$");
}
