import { EVENT_TYPES, type EventType, isEventType } from "../../protocol/event-types.js";
import { nearestWord } from "./nearest-word.js";

/** Reads the name of an event type of the service; for `parse` of an option. */
export function knownEventType(text: string): EventType {
  if (isEventType(text)) return text;
  throw new Error(noSuchEventType(text));
}

/** The message that there is no such event type, and which one was probably meant. */
export function noSuchEventType(text: string): string {
  const near = nearestWord(text, EVENT_TYPES);
  return `There is no event type "${text}"${near === undefined ? "" : ` (Did you mean ${near}?)`}.`;
}
