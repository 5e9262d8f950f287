import { escapeControls } from "../../base/text.js";
import type { DevEvent } from "./dev-event.js";
import type { DeliveryEvent } from "./delivery-lines.js";
import { type EventLine, type Tone, clockTime } from "./event-line.js";
import type { WorkEvent } from "./work-lines.js";

type RemarkEvent = Exclude<DevEvent, DeliveryEvent | WorkEvent | { kind: "ready" }>;

/** What is about the dev server itself, and about requests that are no deliveries. */
export function remarkLines(event: RemarkEvent, nowMs: number): EventLine[] {
  switch (event.kind) {
    case "refused":
      return [refusedLine(event, nowMs)];
    case "inbox_found":
      return [remark("plain", `  ${"Inbox".padEnd(12)}${escapeControls(event.inbox)}`)];
    case "tunnel":
      return [remark("plain", tunnelText(event))];
    case "registered":
      return [remark("plain", `Registered ${event.endpointId} at the service; removed on exit.`)];
    case "registration_moved":
      return [remark("plain", `The endpoint ${event.endpointId} now points to ${escapeControls(event.url)}`)];
    case "swept":
      return [remark("plain", `Removed endpoints that a crashed run had left: ${event.endpointIds.join(", ")}`)];
    case "unregistered":
      return [remark("plain", `Removed the endpoint ${event.endpointId} at the service.`)];
    case "problem":
      return [
        // Several lines if the last output of a tunnel is quoted.
        ...event.what.split("\n").map((line) => remark("bad", `! ${escapeControls(line)}`)),
        ...(event.fix === null ? [] : [remark("plain", `  ${escapeControls(event.fix)}`)]),
      ];
    case "closed":
      return [];
  }
}

function remark(tone: Tone, text: string): EventLine {
  return { parts: [[tone, text]] };
}

function refusedLine(
  { method, path, status, reason, from }: Extract<RemarkEvent, { kind: "refused" }>,
  nowMs: number,
): EventLine {
  const what = `${escapeControls(method)} ${escapeControls(path).slice(0, 80)}`;
  return {
    parts: [
      ["dim", clockTime(nowMs)],
      ["warn", `  ! ${status} ${reason.replaceAll("_", " ")}: `],
      ["plain", `${what} from ${escapeControls(from)}`],
    ],
  };
}

function tunnelText(event: Extract<RemarkEvent, { kind: "tunnel" }>): string {
  switch (event.state) {
    case "starting":
      return `Starting the tunnel ${escapeControls(event.program)} …`;
    case "up":
      return `The tunnel ${escapeControls(event.program)} is up: ${escapeControls(event.publicUrl)}`;
    case "down":
      return `The tunnel ${escapeControls(event.program)} ended; started again in ${(event.restartMs / 1000).toFixed(1)} s.`;
  }
}
