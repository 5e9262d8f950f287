import { answerHead } from "../../capture/model/answer.js";
import { escapeControls } from "../../base/text.js";
import type { DevEvent } from "./dev-event.js";

/** The event as one JSON line for programs, with the version of its shape, and the outcome of its attempt. */
export function formatJsonLine(event: DevEvent, nowMs = Date.now()): string {
  const outcome = "attempt" in event ? { outcome: answerHead(event.attempt).outcome } : {};
  const line = JSON.stringify({ schemaVersion: 1, at: new Date(nowMs).toISOString(), ...event, ...outcome });
  // JSON does not escape these, and the line may be shown on a terminal.
  return escapeControls(line);
}
