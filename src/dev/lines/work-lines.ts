import { MINUTE } from "../../base/duration.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { escapeControls, quoteForShell } from "../../base/text.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import { describeRetry } from "../../operator/describe-work.js";
import type { DevEvent } from "./dev-event.js";
import { typeColumn } from "./delivery-lines.js";
import { type EventLine, type Part, clockTime, lineBelow } from "./event-line.js";

export type WorkEvent = Extract<DevEvent, { kind: "handler_failed" | "no_handler" }>;

/** What handlers made of a delivery, and how work that has stopped goes on. `inboxFlag` as for the line writer. */
export function workLines(event: WorkEvent, nowMs: number, inboxFlag: string | undefined): EventLine[] {
  switch (event.kind) {
    case "handler_failed":
      return [
        failureLine(event, nowMs),
        ...(event.nextAt === null
          ? commandLines({ when: "After a fix", eventId: event.eventId, inboxFlag })
          : isLongWait(event.nextAt, nowMs)
            ? commandLines({ when: "To run it now", eventId: event.eventId, inboxFlag })
            : []),
      ];
    case "no_handler":
      return [
        { parts: [...head(event, nowMs), ["warn", "! no handler got it"], handlePart(event)] },
        ...commandLines({ when: "Once there is one", eventId: event.eventId, inboxFlag }),
      ];
  }
}

function failureLine(event: Extract<WorkEvent, { kind: "handler_failed" }>, nowMs: number): EventLine {
  const { handler, state, reason, error, nextAt } = event;
  const name = handler === NOTE_HANDLER ? "event" : `handler ${escapeControls(handler)}`;
  const what = nextAt === null ? state : describeRetry(event, clockTime(Date.parse(nextAt)));
  const why = [reason, error]
    .filter((text) => text !== null)
    .map(escapeControls)
    .join(": ");
  const isDead = nextAt === null && state === "dead";
  return {
    parts: [
      ...head(event, nowMs),
      [isDead ? "bad" : "warn", `${isDead ? "✗" : "!"} ${name} ${what}`],
      handlePart(event),
      ["plain", why === "" ? "" : `  ${why}`],
    ],
  };
}

/** A run that is that near needs no command. */
const SHORT_WAIT_MS = MINUTE;

function isLongWait(nextAt: string, nowMs: number): boolean {
  return Date.parse(nextAt) - nowMs > SHORT_WAIT_MS;
}

interface CommandHint {
  when: string;
  eventId: string;
  inboxFlag: string | undefined;
}

function commandLines({ when, eventId, inboxFlag }: CommandHint): EventLine[] {
  if (inboxFlag === undefined) return [];
  const line = `npx pigeonhole inbox retry ${quoteForShell(eventId)}${inboxFlag}`;
  return [lineBelow("dim", `${when}: ${escapeControls(line)}`)];
}

function head({ capture }: WorkEvent, nowMs: number): Part[] {
  return [
    ["dim", clockTime(nowMs)],
    ["plain", typeColumn(capture)],
  ];
}

function handlePart({ capture }: WorkEvent): Part {
  return ["dim", `  ${captureHandle(capture.id)}`];
}
