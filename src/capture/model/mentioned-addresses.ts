import type { Capture } from "./capture.js";
import { bodyJson } from "./captured-body.js";

const ADDRESS = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;

/** Every address in the bodies of captures, once each, in lower case. */
export function mentionedAddresses(captures: readonly Capture[]): string[] {
  const addresses = new Set<string>();
  for (const { request } of captures) {
    const json = bodyJson(request.body);
    if (!json.ok) continue;
    for (const text of textsIn(json.value)) {
      for (const [address] of text.matchAll(ADDRESS)) addresses.add(address.toLowerCase());
    }
  }
  return [...addresses];
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) yield* textsIn(part);
}
