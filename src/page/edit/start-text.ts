import type { Capture } from "../../capture/model/capture.js";
import { bodyAsText } from "../message/body-bytes.js";

/** Where editing begins: JSON on a single line is indented, if it can be written without losing digits or names. */
export function startText(capture: Capture): string {
  const text = bodyAsText(capture.request.body);
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text.trim() ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
