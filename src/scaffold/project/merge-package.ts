type Fields = Record<string, unknown>;

/** Merges several package.json: objects are merged and sorted by key, other values are replaced. */
export function mergePackages(texts: readonly string[]): string {
  const merged = texts.map((text) => JSON.parse(text) as Fields).reduce(mergeFields);
  for (const group of ["dependencies", "devDependencies"]) {
    const versions = (merged[group] ?? {}) as Fields;
    merged[group] = Object.fromEntries(Object.entries(versions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  return `${JSON.stringify(merged, undefined, 2)}\n`;
}

function mergeFields(below: Fields, above: Fields): Fields {
  const merged = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const old = merged[name];
    merged[name] = isFields(old) && isFields(value) ? mergeFields(old, value) : value;
  }
  return merged;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
