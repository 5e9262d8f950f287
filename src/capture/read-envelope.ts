import { bodyJson } from "./captured-body.js";
import type { CapturedBody, CapturedEvent } from "./capture.js";

/** The readable fields of the envelope. Never throws. A field that is missing or not a string is null. */
export function readEnvelope(body: CapturedBody): CapturedEvent {
  const json = bodyJson(body);
  if (!json.ok || typeof json.value !== "object" || json.value === null) return { id: null, type: null, at: null };
  const { id, type, createdAt } = json.value as Record<string, unknown>;
  return { id: textOrNull(id), type: textOrNull(type), at: textOrNull(createdAt) };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
