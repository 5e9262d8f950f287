/**
 * HTML as the sandbox stores it: without scripts, frames, forms, event attributes and script URLs. It imitates what the
 * service does, whose rules are not documented, and is no protection for a page.
 */
export function cleanHtml(html: string): string {
  return html
    .replaceAll(/<(script|style|iframe|object|embed|form)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, "")
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, "")
    .replaceAll(/\son\w+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, "")
    .replaceAll(/\s(?:href|src)\s*=\s*(?:"\s*javascript:[^"]*"|'\s*javascript:[^']*'|javascript:[^\s>]+)/gi, "");
}

/** True when the HTML shows some text or an image. */
export function hasContent(html: string): boolean {
  return /<img\b/i.test(html) || html.replaceAll(/<[^<>]*>|&nbsp;/g, "").trim() !== "";
}
