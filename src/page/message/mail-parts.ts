/** Of a field of a mail: an address, a person with one, or a list of these. A list in a list has no words. */
export function mailPeople(value: unknown): string {
  return (Array.isArray(value) ? value : [value]).map(wordsOf).join(", ");
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const { name, email, address } = value as Readonly<Record<string, unknown>>;
  return [name, email ?? address].filter((part) => typeof part === "string").join(" · ");
}

/** A tag, from its name to its end. */
const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^"'>]+)*/gi;

/** HTML whose styles have other names, so that a parser applies none. Its text stays. */
export function withoutStyles(html: string): string {
  return html
    .replaceAll(/<(\/?)style/gi, "<$1template")
    .replaceAll(TAG, (tag) => tag.replaceAll(/\bstyle\s*=/gi, "data-style="));
}
