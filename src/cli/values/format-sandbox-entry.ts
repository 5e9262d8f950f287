import { DEFAULT_EVENT_TYPES } from "../../protocol/event-types.js";
import { escapeControls } from "../../base/text.js";
import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import type { AttemptRow } from "../../sandbox/delivery/attempt-row.js";
import type { SandboxLogEntry } from "../../sandbox/log-entry.js";
import type { Paint } from "../frame/output.js";
import { clockTime } from "../../dev/line-writer.js";
import { age } from "../frame/format.js";

/** The present endpoints, and how the command makes one that receives every type, such as `--endpoint <url>=all`. */
export interface PresentEndpoints {
  endpoints: readonly WebhookEndpoint[];
  allBy: string;
}

/** One line of the sandbox's live log. */
export function formatSandboxEntry(entry: SandboxLogEntry, paint: Paint, present: PresentEndpoints): string {
  const time = paint.dim(clockTime(entry.atMs));
  return `${time}  ${words(entry, paint, present)}`;
}

function words(entry: SandboxLogEntry, paint: Paint, present: PresentEndpoints): string {
  switch (entry.kind) {
    case "event": {
      const result =
        entry.deliveries === 0
          ? paint.yellow(`no endpoint receives it, so it is lost: ${whyNotReceived(entry.type, present)}`)
          : `${entry.deliveries} to deliver`;
      return `${paint.bold("event")}    ${escapeControls(`${entry.type}  ${entry.eventId}`)}  ${result}`;
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

function whyNotReceived(type: string, { endpoints, allBy }: PresentEndpoints): string {
  if (endpoints.length === 0) return `there is no endpoint; ${allBy} makes one`;
  const enabled = endpoints.filter((endpoint) => endpoint.enabled);
  if (enabled.length === 0) return "every endpoint is switched off";
  const wanting = enabled.filter(({ eventTypes }) => receivesType(eventTypes, type));
  if (wanting.length > 0) return "the endpoints receive events of other addresses only";
  return `no endpoint receives ${escapeControls(type)}; ${allBy} receives every type`;
}

/** An endpoint made without types shows as `*` and receives the service's default set. */
function receivesType(eventTypes: readonly string[], type: string): boolean {
  const names: readonly string[] = eventTypes.includes("*") ? DEFAULT_EVENT_TYPES : eventTypes;
  return names.includes(type);
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
