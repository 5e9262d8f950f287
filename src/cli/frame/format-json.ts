import { escapeControls } from "../../base/escape-controls.js";

/** Text of a body for a terminal: indented if it is JSON, one line otherwise, with control characters escaped. */
export function formatJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).split("\n").map(escapeControls).join("\n");
  } catch {
    return escapeControls(body);
  }
}
