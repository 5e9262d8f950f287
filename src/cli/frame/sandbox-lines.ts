import { escapeControls } from "../../dev/escape-controls.js";
import type { AttemptRow } from "../../sandbox/delivery/attempt-row.js";
import type { SandboxLogEntry } from "../../sandbox/log-entry.js";
import type { Paint } from "./output.js";
import { age } from "./time.js";

/** One line of the sandbox's live log. */
export function formatSandboxEntry(entry: SandboxLogEntry, paint: Paint): string {
  const time = paint.dim(new Date(entry.atMs).toISOString().slice(11, 19));
  return `${time}  ${words(entry, paint)}`;
}

function words(entry: SandboxLogEntry, paint: Paint): string {
  switch (entry.kind) {
    case "event": {
      const heard =
        entry.deliveries === 0 ? paint.yellow("nobody hears it, so it is lost") : `${entry.deliveries} to deliver`;
      return `${paint.bold("event")}    ${escapeControls(`${entry.type}  ${entry.eventId}`)}  ${heard}`;
    }
    case "attempt":
      return attemptWords(entry.row, entry.url, paint);
    case "endpoint": {
      const why = entry.reason === null ? "" : `: ${escapeControls(entry.reason)}`;
      const text = `endpoint ${entry.endpointId}  ${entry.change}${why}`;
      return entry.change === "disabled" ? paint.red(text) : text;
    }
    case "api": {
      const { call, method, status, code } = entry.call;
      const text = `api      ${method} ${call ?? "no such operation"}  ${status ?? "no answer"}${code === undefined ? "" : ` ${code}`}`;
      return status !== null && status < 400 ? text : paint.yellow(text);
    }
    case "contact_event":
      return `contact  ${escapeControls(entry.name)}  ${entry.eventId}`;
    case "clock":
      return `clock    advanced by ${age(entry.byMs)}`;
  }
}

function attemptWords(row: AttemptRow, url: string, paint: Paint): string {
  const { status, responseCode, error, eventType, eventId, attempt, durationMs, nextAttemptAt, createdAt, fault } = row;
  const sign = status === "delivered" ? paint.green("✓") : paint.red("✗");
  const answer = responseCode ?? error ?? "no answer";
  const next =
    nextAttemptAt === null
      ? status === "delivered"
        ? ""
        : paint.red("  given up")
      : paint.yellow(`  again in ${age(Date.parse(nextAttemptAt) - Date.parse(createdAt))}`);
  const made = fault === null ? "" : paint.dim(`  (${fault})`);
  const text = `${eventType}  ${eventId}  attempt ${attempt}  ${answer}  ${durationMs} ms  ${url}`;
  return `${sign} ${escapeControls(text)}${next}${made}`;
}
