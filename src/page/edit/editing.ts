import { signal } from "@preact/signals";
import type { Capture } from "../../capture/model/capture.js";
import { bodyAsText } from "../message/body-bytes.js";

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

/** The initial text: JSON on a single line is indented, if it can be written without losing digits or names. */
export function startText(capture: Capture): string {
  const text = bodyAsText(capture.request.body);
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text.trim() ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

export function keepDraft(capture: Capture, text: string): void {
  if (text === startText(capture)) drafts.delete(capture.id);
  else drafts.set(capture.id, text);
}
