import { PigeonholeError } from "../../base/error.js";
import { typesMatching } from "../../protocol/event-pattern.js";
import { EVENT_TYPES, type EventType } from "../../protocol/event-types.js";

/** Handlers that nearly every app wants, offered first. */
export const USUAL_EVENTS: readonly EventType[] = [
  "email.received",
  "email.delivered",
  "email.bounced",
  "email.complained",
];

/**
 * Reads `email.received,form.*` or `all` as event types, in the order of the service's list. Throws `invalid_option`
 * for a word that matches none.
 */
export function parseEvents(text: string): EventType[] {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const chosen = new Set(words.flatMap(matchEvents));
  if (chosen.size > 0) return EVENT_TYPES.filter((type) => chosen.has(type));
  throw new PigeonholeError("invalid_option", "events must name at least one event type, such as email.received.");
}

function matchEvents(word: string): EventType[] {
  const found = typesMatching(word);
  if (found.length > 0) return found;
  throw new PigeonholeError(
    "invalid_option",
    `events: "${word}" is not an event type; give names such as email.received, groups such as email.*, or all.`,
  );
}

/** The names of one event type in a project. */
export interface EventNames {
  /** `email.received` */
  type: EventType;
  /** `email-received`, for files. */
  file: string;
  /** `EmailReceived`, inside identifiers. */
  identifier: string;
  /** `messageId`: a field of its data that may be logged. */
  field: string;
}

/** By group, else `messageId`. Data is assumed (docs/service.md#event-data); the samples have these fields. */
const FIELDS: Readonly<Record<string, string>> = {
  domain: "domainId",
  suppression: "reason",
  file: "id",
  form: "formId",
};

/** The names used in templates. */
const SAMPLE = namesOf("email.received");

export function namesOf(type: EventType): EventNames {
  const words = type.split(/[._]/);
  const identifier = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return { type, file: words.join("-"), identifier, field: FIELDS[words[0] ?? ""] ?? "messageId" };
}

/** A template's text with this event in place of the sample. */
export function renameEvent(text: string, names: EventNames): string {
  const parts = ["type", "file", "identifier", "field"] as const;
  return parts.reduce((rest, part) => rest.replaceAll(SAMPLE[part], names[part]), text);
}

/** Each line that names the sample event, once per event; other lines as they are. */
export function repeatEventLines(text: string, events: readonly EventNames[]): string {
  const names = Object.values(SAMPLE);
  const lines = text.split("\n").flatMap((line) => {
    const isAboutSample = names.some((name) => line.includes(name));
    return isAboutSample ? events.map((event) => renameEvent(line, event)) : [line];
  });
  return lines.join("\n");
}
