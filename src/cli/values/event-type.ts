import { EVENT_TYPES, type EventType, isEventType } from "../../protocol/event-types.js";
import { nearestWord } from "../../base/nearest-word.js";

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
