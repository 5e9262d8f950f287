import type { CaptureAttempt, CaptureSummary, CaptureVerdict } from "../capture/capture.js";

/** A delivery that came in, as all happenings about one tell it. */
export interface DeliveryHappening {
  capture: CaptureSummary;
  verdict: CaptureVerdict;
  /** Status that the sender heard. */
  answer: number;
  /** Whom it came from; through a tunnel, the sender in front of it. */
  from: string;
}

/**
 * What the dev server has to tell. It prints nothing itself: `report` of its options hears these, and `formatHappening` makes
 * lines of them. No secret and no body is in them; `pageUrl` holds the page's token.
 */
export type DevHappening =
  /** Everything listens; the first thing that is told. */
  | {
      kind: "ready";
      captureUrl: string;
      publicUrl: string | null;
      pageUrl: string | null;
      forwards: { types: string; target: string }[];
      secrets: string[];
      captures: number;
      broken: { file: string; reason: string }[];
    }
  /** Forwarded, and answered by the app. */
  | ({ kind: "forwarded"; attempt: CaptureAttempt } & DeliveryHappening)
  /** Kept and not forwarded: no forward takes its type. */
  | ({ kind: "received" } & DeliveryHappening)
  /** Kept, and delivered later: the app is down, or forwarding is paused; or kept until somebody replays it (`invalid`). */
  | ({ kind: "held"; why: "app_down" | "paused" | "queued" | "invalid"; error: string | null } & DeliveryHappening)
  /** The app gave no answer, so the sender heard 503. */
  | ({ kind: "app_down"; attempt: CaptureAttempt } & DeliveryHappening)
  /** Refused for its signature. */
  | ({ kind: "rejected" } & DeliveryHappening)
  /** Held before, now answered by the app. */
  | { kind: "delivered"; capture: CaptureSummary; attempt: CaptureAttempt }
  /** Sent again by hand. */
  | { kind: "replayed"; capture: CaptureSummary; attempt: CaptureAttempt }
  /** A request at the capture port that is no delivery. */
  | {
      kind: "refused";
      reason: "wrong_method" | "wrong_path" | "too_large" | "body_timeout";
      status: number;
      method: string;
      path: string;
      from: string;
    }
  | { kind: "paused" }
  | { kind: "resumed" }
  | { kind: "tunnel"; state: "starting"; program: string }
  | { kind: "tunnel"; state: "up"; program: string; publicUrl: string }
  | { kind: "tunnel"; state: "down"; program: string; restartMs: number }
  /** An endpoint at the service points here until the dev server ends. */
  | { kind: "registered"; endpointId: string; url: string; eventTypes: string[] }
  | { kind: "registration_moved"; endpointId: string; url: string }
  /** Endpoints that a crashed run of this folder had left. */
  | { kind: "swept"; endpointIds: string[] }
  | { kind: "unregistered"; endpointId: string }
  /** Something went wrong that needs no end of the run; `fix` says what to do. */
  | { kind: "problem"; what: string; fix: string | null }
  | { kind: "closed" };

export type Report = (happening: DevHappening) => void;
