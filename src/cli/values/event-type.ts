import { EVENT_TYPES, type EventType, isEventType } from "../../protocol/event-types.js";

/** Reads the name of an event type of the service; for `parse` of an option. */
export function knownEventType(text: string): EventType {
  if (isEventType(text)) return text;
  throw new Error(noSuchEventType(text));
}

/** Reads a whole event type, also one that this version does not know; for `parse` of an option. */
export function parseWholeType(text: string): string {
  if (!text.includes("*")) return text;
  const parts = text.split("*").map((part) => part.replaceAll(/\W/g, "\\$&"));
  const matching = EVENT_TYPES.filter((type) => new RegExp(`^${parts.join(".*")}$`).test(type));
  const meant = matching.length === 0 ? "such as email.received" : `one of ${matching.join(", ")}`;
  throw new Error(`A pattern is not read here. Give one whole type, ${meant}.`);
}

/** The message that there is no such event type, and which one was probably meant. */
export function noSuchEventType(text: string): string {
  const near = nearestWord(text, EVENT_TYPES);
  return `There is no event type "${text}"${near === undefined ? "" : ` (Did you mean ${near}?)`}.`;
}

/** The word that was probably meant; undefined if none is similar. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(2, word.length * 0.3) ? best.candidate : undefined;
}

/** Levenshtein distance: how many letters must be changed, added or removed. */
function editDistance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, letter] of a.split("").entries()) {
    const line = [row + 1];
    for (const [column, other] of b.split("").entries()) {
      const change = (before[column] ?? 0) + (letter === other ? 0 : 1);
      line.push(Math.min(change, (before[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1));
    }
    before = line;
  }
  return before.at(-1) ?? 0;
}
