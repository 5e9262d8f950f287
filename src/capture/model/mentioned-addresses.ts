import type { Capture } from "./capture.js";
import { bodyJson } from "./captured-body.js";

const LOCAL = String.raw`[\p{L}\p{N}.!#$%&'*+/=?^_\x60{|}~-]`;
const LABEL = String.raw`[\p{L}\p{N}-]+`;
/** Begins only where such a run of characters begins, so that a long run without @ is read once. */
const ADDRESS = new RegExp(String.raw`(?<!${LOCAL})${LOCAL}{1,64}@${LABEL}(?:\.${LABEL})+`, "gu");

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
