import { signal } from "@preact/signals";
import type { Capture } from "../../capture/model/capture.js";
import { bodyAsText } from "../message/body-bytes.js";
import { parseJson } from "../json/parse-json.js";
import { writeJson } from "../json/tree-rows.js";

/** The capture whose body is being edited; null if the drawer is closed. */
export const editing = signal<Capture | null>(null);

/** Drafts that were not discarded, by capture. */
const drafts = new Map<string, string>();

export function editCapture(capture: Capture): void {
  editing.value = capture;
}

export function stopEditing(): void {
  editing.value = null;
}

export function draftOf(capture: Capture): string {
  return drafts.get(capture.id) ?? startText(capture);
}

/** The initial text: JSON on a single line is indented. */
export function startText(capture: Capture): string {
  const text = bodyAsText(capture.request.body);
  if (text.trim().includes("\n")) return text;
  const parsed = parseJson(text);
  return parsed.ok ? writeJson(parsed.node) : text;
}

export function keepDraft(capture: Capture, text: string): void {
  if (text === startText(capture)) drafts.delete(capture.id);
  else drafts.set(capture.id, text);
}
