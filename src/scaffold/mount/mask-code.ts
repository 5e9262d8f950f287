/** What may precede a `/` that begins a regular expression. */
const BEFORE_REGEXP = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do))\s*$/;

/**
 * The text with everything inside comments, strings, templates and regular expressions replaced by spaces, so that a
 * search finds code only. Length, lines and quotes stay. Undefined if something does not end: then the text cannot be
 * searched safely.
 */
export function maskCode(text: string): string | undefined {
  return mask(text, (part) => (isComment(part) ? blank(part) : maskInside(part)));
}

/** The text with comments alone replaced by spaces; undefined as for {@link maskCode}. */
export function maskComments(text: string): string | undefined {
  return mask(text, (part) => (isComment(part) ? blank(part) : part));
}

/** `masked`: what a comment, string, template or regular expression becomes; of the same length. */
function mask(text: string, masked: (part: string) => string): string | undefined {
  let result = "";
  let at = 0;
  while (at < text.length) {
    const end = endOfOpaque(text, at, result);
    if (end === undefined) return undefined;
    const isCode = end === at;
    result += isCode ? (text[at] ?? "") : masked(text.slice(at, end));
    at = isCode ? at + 1 : end;
  }
  return result;
}

function isComment(part: string): boolean {
  return part.startsWith("//") || part.startsWith("/*") || part.startsWith("#!");
}

function maskInside(part: string): string {
  return `${part[0] ?? ""}${blank(part.slice(1, -1))}${part.at(-1) ?? ""}`;
}

function blank(text: string): string {
  return text.replaceAll(/[^\r\n]/g, " ");
}

/** End of the token that begins at `at`: `at` itself for code, undefined if it does not end. */
function endOfOpaque(text: string, at: number, before: string): number | undefined {
  const [here = "", next = ""] = [text[at], text[at + 1]];
  if (here === "/" && next === "/") return endOfLine(text, at);
  if (here === "/" && next === "*") return after(text, "*/", at + 2);
  if (here === '"' || here === "'") return endOfString(text, at, here);
  if (here === "`") return endOfTemplate(text, at);
  if (here === "/" && BEFORE_REGEXP.test(before.slice(-40))) return endOfRegExp(text, at);
  if (here === "#" && next === "!" && at === 0) return endOfLine(text, at);
  return at;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function after(text: string, what: string, from: number): number | undefined {
  const found = text.indexOf(what, from);
  return found === -1 ? undefined : found + what.length;
}

function endOfString(text: string, at: number, quote: string): number | undefined {
  for (let index = at + 1; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === quote) return index + 1;
    else if (text[index] === "\n") return undefined;
  }
  return undefined;
}

/** Code inside `${…}` counts as part of the template. */
function endOfTemplate(text: string, at: number): number | undefined {
  for (let index = at + 1; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === "`") return index + 1;
    else if (text.startsWith("${", index)) {
      const end = endOfInterpolation(text, index + 2);
      if (end === undefined) return undefined;
      index = end - 1;
    }
  }
  return undefined;
}

function endOfInterpolation(text: string, from: number): number | undefined {
  let depth = 1;
  for (let index = from; index < text.length;) {
    const end = endOfOpaque(text, index, text.slice(from, index));
    if (end === undefined) return undefined;
    if (end > index) {
      index = end;
      continue;
    }
    if (text[index] === "{") depth += 1;
    if (text[index] === "}") depth -= 1;
    index += 1;
    if (depth === 0) return index;
  }
  return undefined;
}

function endOfRegExp(text: string, at: number): number | undefined {
  let inClass = false;
  for (let index = at + 1; index < text.length; index += 1) {
    const letter = text[index];
    if (letter === "\n") return undefined;
    if (letter === "\\") index += 1;
    else if (letter === "[") inClass = true;
    else if (letter === "]") inClass = false;
    else if (letter === "/" && !inClass) return index + 1;
  }
  return undefined;
}
