import { PigeonholeError } from "../base/error.js";

/** Decides by event type. The type of an unreadable delivery is null, which only `*` matches. */
export type TypeMatcher = (type: string | null) => boolean;

const GLOB = /^[\w*]+(?:\.[\w*]+)*$/;

/**
 * Reads `*`, `email.*`, a whole type, or several of them, separated by commas. Throws an `invalid_option` that names
 * `option`.
 */
export function parseTypeGlobs(text: string, option: string): TypeMatcher {
  const matchers = text.split(",").map((part) => parseGlob(part.trim(), option));
  return (type) => matchers.some((matches) => matches(type));
}

function parseGlob(glob: string, option: string): TypeMatcher {
  if (glob === "*") return () => true;
  if (!GLOB.test(glob)) {
    throw new PigeonholeError(
      "invalid_option",
      `${option}: "${glob}" is not an event type; write one such as email.received, or email.*, or *.`,
    );
  }
  const pattern = new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  return (type) => type !== null && pattern.test(type);
}
