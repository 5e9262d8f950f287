import { PigeonholeError } from "../base/error.js";
import { EVENT_TYPES, type EventType } from "./event-types.js";

// A pattern is a whole event type (`email.received`), a group (`email.*`: every type that begins with `email.`), or `*`
// for every type. A star stands nowhere else. Calls of the API are named in the same way: `contactEvents.*`. The search
// of captures (`type:*.received`) is wider, since it searches text: there a star stands for any part.

/** Decides by event type. The type of an unreadable delivery is null, which only `*` matches. */
export type TypeMatcher = (type: string | null) => boolean;

const PATTERN = /^(?:\*|[\w-]+(?:\.[\w-]+)*(?:\.\*)?)$/;

/** True for a text that is a pattern. It may still match nothing, as a misspelt type does. */
export function isPattern(text: unknown): boolean {
  return typeof text === "string" && PATTERN.test(text);
}

/** True for the name itself, for its group, and for `*`. */
export function matchesPattern(pattern: string, name: string): boolean {
  return pattern === name || pattern === "*" || (pattern.endsWith(".*") && name.startsWith(pattern.slice(0, -1)));
}

/** The types of the service that a pattern matches, in the order of its list; `all` is another word for `*`. */
export function typesMatching(pattern: string): EventType[] {
  return EVENT_TYPES.filter((type) => pattern === "all" || matchesPattern(pattern, type));
}

/**
 * Reads a pattern, or several of them, separated by commas. Throws an `invalid_option` that names `option` for a text
 * that is none.
 */
export function parsePatterns(text: string, option: string): TypeMatcher {
  const patterns = text.split(",").map((part) => part.trim());
  for (const pattern of patterns) checkPattern(pattern, option);
  return (type) => patterns.some((pattern) => (type === null ? pattern === "*" : matchesPattern(pattern, type)));
}

/** Throws an `invalid_option` that names `option` for a text that is no pattern, since it would never match. */
export function checkPattern(text: unknown, option: string): void {
  if (isPattern(text)) return;
  throw new PigeonholeError(
    "invalid_option",
    `${option}: "${String(text)}" is not an event type; write one such as email.received, or email.*, or *. ` +
      "Use * alone, or for everything after a dot.",
  );
}
