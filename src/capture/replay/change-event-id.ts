/* Without node: imports, since the page uses it too. */

/** A token of JSON: a string, a punctuation character, or anything else up to the next of these. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * Replaces the `id` in the text of an envelope and leaves every other byte unchanged. Undefined if the text is not a
 * JSON object with a string `id`.
 */
export function changeEventId(text: string, id: string): string | undefined {
  const place = findTopLevelId(text);
  return place && text.slice(0, place.start) + JSON.stringify(id) + text.slice(place.end);
}

/** If `id` occurs twice, the later one counts, as in JSON.parse. */
function findTopLevelId(text: string): { start: number; end: number } | undefined {
  if (!isJsonObject(text)) return undefined;
  let depth = 0;
  let key: string | undefined;
  let previous = "";
  let found: { start: number; end: number } | undefined;
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    const isValue = previous === ":" && depth === 1;
    if (isValue && key === "id") {
      found = token.startsWith('"') ? { start: match.index, end: match.index + token.length } : undefined;
    }
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (depth === 1 && previous !== ":" && token.startsWith('"')) key = JSON.parse(token) as string;
    previous = token;
  }
  return found;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
