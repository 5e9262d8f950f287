/** Of a field of a mail: an address, a person with one, or a list of these. A list in a list has no words. */
export function peopleIn(value: unknown): string {
  return (Array.isArray(value) ? value : [value]).map(wordsOf).join(", ");
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const { name, email, address } = value as Readonly<Record<string, unknown>>;
  return [name, email ?? address].filter((part) => typeof part === "string").join(" · ");
}
