import { PigeonholeError } from "../base/error.js";

/** Characters of a URL's path as sent, without those that are patterns in Express: `: * ( ) [ ] { } + ! ?`. */
const PLAIN_PATH = /^\/[\w\-.~%$&',;=@/]*$/;

/** Clients resolve these before they send, in each spelling. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** What a request target has before its path when a proxy sends it. */
const HOST = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/**
 * Throws `invalid_option` for a path that no request can have, or that Express would take for a pattern.
 */
export function checkEndpointPath(path: unknown): asserts path is string {
  const refuse = (why: string): never => {
    throw new PigeonholeError("invalid_option", `path ${why}, got ${JSON.stringify(path)}.`);
  };
  if (typeof path !== "string" || !path.startsWith("/")) refuse('must be a string that starts with "/"');
  else if (/[?#]/.test(path)) refuse('must hold no "?" and no "#": the query of a request does not count');
  else if (/[:*()[\]{}+!]/.test(path)) refuse("is one path, not a pattern: it must hold none of : * ( ) [ ] { } + !");
  else if (!PLAIN_PATH.test(path)) refuse("must be written as it is sent, so percent-encoded (%20 for a space)");
  else if (DOT_SEGMENT.test(path)) refuse('must hold no "." and no ".." between slashes: senders resolve them');
  else if (path.endsWith("//")) refuse("must not end in two slashes");
}

/**
 * Says for a request target whether Express would route it to `path`: letter case, one slash at the end and the query
 * make no difference, percent-encoding does. A host before the path makes none either, even one that Express refuses.
 * `path` must have been checked.
 */
export function createPathMatcher(path: string): (target: string | undefined) => boolean {
  const bare = path === "/" ? path : path.replace(/\/$/, "").toLowerCase();
  const slashed = `${bare}/`;
  return (target) => {
    if (target === path) return true;
    const asked = target
      ?.replace(HOST, "")
      .replace(/[?#].*$/, "")
      .toLowerCase();
    return asked === bare || asked === slashed;
  };
}
