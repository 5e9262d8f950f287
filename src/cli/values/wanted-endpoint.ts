import { checkPattern, typesMatching } from "../../protocol/event-pattern.js";

/** An endpoint to create in the sandbox. */
export interface WantedEndpoint {
  url: string;
  /** Whole names; undefined for the service's default set. */
  eventTypes: string[] | undefined;
}

/** Reads `<url>`, `<url>=email.bounced,form.*` or `<url>=all`. */
export function wantedEndpoint(text: string): WantedEndpoint {
  const [, url = "", types] = /^(.*?)(?:=((?:[\w.*]+,)*[\w.*]+))?$/s.exec(text) ?? [];
  if (!URL.canParse(url)) throw new Error("It must be a URL, optionally followed by =type,type.");
  return { url, eventTypes: types === undefined ? undefined : expandTypes(types) };
}

/** Reads `email.bounced,form.*` or `all` as whole names. Throws for a group that has none. */
export function expandTypes(types: string): string[] {
  return types.split(",").flatMap(expandType);
}

function expandType(type: string): string[] {
  const found = typesMatching(type);
  if (found.length > 0) return found;
  // The sandbox decides about a whole name: it may know newer types.
  if (!type.includes("*")) return [type];
  checkPattern(type, "types");
  throw new Error(`No event type begins with ${type.slice(0, -1)}`);
}
