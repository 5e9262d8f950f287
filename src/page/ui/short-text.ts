import { escapeControls } from "../../base/text.js";

/** More than anybody reads on one line; to lay out megabytes takes seconds. */
const SHOWN = 300;

/** Untrusted text for one line: its beginning, with control characters as signs. */
export function shortText(text: string): string {
  return text.length > SHOWN ? `${escapeControls(text.slice(0, SHOWN))}…` : escapeControls(text);
}
