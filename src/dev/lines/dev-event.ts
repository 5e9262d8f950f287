import type { CaptureAttempt, CaptureSummary, CaptureVerdict } from "../../capture/model/capture.js";
import { answerHead } from "../../capture/model/answer.js";
import { escapeControls } from "../../base/text.js";

/** A received delivery: the fields that all events about a delivery share. */
export interface DevDeliveryEvent {
  capture: CaptureSummary;
  verdict: CaptureVerdict;
  /** Status that the sender received. */
  answer: number;
  /** Address of the sender; behind a tunnel, of the sender in front of it. */
  from: string;
}

/**
 * An event of the dev server. The dev server prints nothing itself: its option `report` receives these, and
 * `createLineWriter` turns them into lines. They contain no secret and no body. `pageUrl` contains the page's token.
 */
export type DevEvent =
  /** Every port listens. The first event of a run. */
  | {
      kind: "ready";
      captureUrl: string;
      publicUrl: string | null;
      pageUrl: string | null;
      /** Path of the receiver's database, in which handlers are followed; null if none was given. */
      inbox: string | null;
      /** Where the API of the emulated service is; null without one. */
      sandbox: string | null;
      forwards: { types: string; target: string }[];
      secrets: string[];
      captures: number;
      broken: { file: string; reason: string }[];
    }
  /** The receiver's database has appeared since the start; its handlers are followed from now on. */
  | { kind: "inbox_found"; inbox: string }
  /** Forwarded, and answered by the app. */
  | ({ kind: "forwarded"; attempt: CaptureAttempt } & DevDeliveryEvent)
  /** Kept and not forwarded: no forward matches its type. */
  | ({ kind: "received" } & DevDeliveryEvent)
  /** The app gave no answer, so the sender received 503. */
  | ({ kind: "app_down"; attempt: CaptureAttempt } & DevDeliveryEvent)
  /** Sent again by hand. */
  | { kind: "replayed"; capture: CaptureSummary; attempt: CaptureAttempt }
  /**
   * A handler failed for a delivery that the app took, or the event is parked (then `handler` is empty). Needs the
   * inbox.
   */
  | {
      kind: "handler_failed";
      capture: CaptureSummary;
      eventId: string;
      handler: string;
      /** `pending`: it will run again at `nextAt`. */
      state: string;
      /** Runs so far. */
      attempts: number;
      /** How often the handler may fail; null where that is not known. */
      maxAttempts: number | null;
      reason: string | null;
      error: string | null;
      /** ISO 8601 or null. */
      nextAt: string | null;
    }
  /** The app took the delivery, and has no handler for it. Needs the inbox. */
  | { kind: "no_handler"; capture: CaptureSummary; eventId: string }
  /** A request at the capture port that is not a delivery. */
  | {
      kind: "refused";
      reason: "wrong_method" | "wrong_path" | "too_large" | "body_timeout";
      status: number;
      method: string;
      path: string;
      from: string;
    }
  | { kind: "tunnel"; state: "starting"; program: string }
  | { kind: "tunnel"; state: "up"; program: string; publicUrl: string }
  | { kind: "tunnel"; state: "down"; program: string; restartMs: number }
  /** An endpoint at the service points here until the dev server ends. */
  | { kind: "registered"; endpointId: string; url: string; eventTypes: string[] }
  | { kind: "registration_moved"; endpointId: string; url: string }
  /** Endpoints left behind by a crashed run in this folder. */
  | { kind: "swept"; endpointIds: string[] }
  | { kind: "unregistered"; endpointId: string }
  /** A problem that does not end the run; `fix` says what to do. */
  | { kind: "problem"; what: string; fix: string | null }
  | { kind: "closed" };

export type Report = (event: DevEvent) => void;

/** The event as one JSON line for programs, with the version of its shape, and the outcome of its attempt. */
export function formatJsonLine(event: DevEvent, nowMs = Date.now()): string {
  const outcome = "attempt" in event ? { outcome: answerHead(event.attempt).outcome } : {};
  const line = JSON.stringify({ schemaVersion: 1, at: new Date(nowMs).toISOString(), ...event, ...outcome });
  // JSON does not escape these, and the line may be shown on a terminal.
  return escapeControls(line);
}
