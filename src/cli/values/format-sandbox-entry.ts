import { DEFAULT_EVENT_TYPES } from "../../protocol/event-types.js";
import { escapeControls } from "../../base/text.js";
import type { WebhookEndpoint } from "../../contract/webhook-endpoint.js";
import type { SandboxLogEntry } from "../../sandbox/log-entry.js";
import { answerAdvice, judgeAdvised } from "../../capture/model/answer-advice.js";
import { describeAnswer, judgeAnswer } from "../../capture/model/answer.js";
import type { Paint } from "../frame/output.js";
import { clockTime } from "../../dev/lines/event-line.js";
import { age } from "../frame/format.js";
import { answerSign } from "./event-work.js";

/** The endpoints of a sandbox, and the flags of its command. */
export interface PresentEndpoints {
  endpoints: readonly WebhookEndpoint[];
  /** How one is made that receives every type, such as `--endpoint <url>=all`. */
  allBy: string;
  /** How the one with this id gets another path, as an example. */
  pathBy: (endpointId: string) => string;
  /** Id of an endpoint whose answers get their advice elsewhere. */
  advisedEndpoint?: string | undefined;
}

/** One line of the sandbox's live log, and for some answers a line of advice. */
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
      return [attemptWords(entry, paint, present), ...adviceLines(entry, paint, present)].join("\n");
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

type MadeAttempt = Extract<SandboxLogEntry, { kind: "attempt" }>;

function adviceLines(entry: MadeAttempt, paint: Paint, present: PresentEndpoints): string[] {
  const { advisedEndpoint } = present;
  const advice = entry.row.endpointId === advisedEndpoint ? undefined : adviceOn(entry, present);
  return advice === undefined ? [] : [`          ${paint.yellow(`! ${escapeControls(advice)}`)}`];
}

function adviceOn({ row, url: target }: MadeAttempt, { pathBy }: PresentEndpoints): string | undefined {
  const { endpointId, responseCode, outcome, contentType, fault } = row;
  if (fault === "status") return undefined;
  const answer = { status: responseCode, outcome, contentType, clockAheadMs: null, target, isSigned: true };
  return answerAdvice({ ...answer, pathFlag: pathBy(endpointId), secretRef: "the endpoint" });
}

function attemptWords(entry: MadeAttempt, paint: Paint, present: PresentEndpoints): string {
  const { row, url } = entry;
  const {
    status,
    responseCode,
    outcome,
    error,
    eventType,
    eventId,
    attempt,
    durationMs,
    nextAttemptAt,
    createdAt,
    fault,
  } = row;
  const head = { status: responseCode, outcome };
  const sign = answerSign(judgeAdvised(judgeAnswer(head), adviceOn(entry, present)), paint);
  const answer = responseCode === null ? (error ?? "no answer") : describeAnswer(head);
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
