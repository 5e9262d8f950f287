/** A tag, from its name to its end. */
const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^"'>]+)*/gi;

/** HTML whose styles have other names, so that a parser applies none. Its text stays. */
export function withoutStyles(html: string): string {
  return html
    .replaceAll(/<(\/?)style/gi, "<$1template")
    .replaceAll(TAG, (tag) => tag.replaceAll(/\bstyle\s*=/gi, "data-style="));
}
