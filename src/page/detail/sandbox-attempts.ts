import type { PastDelivery } from "../../dev/api/page-api.js";
import type { SandboxAttempt, SandboxDelivery, SandboxState } from "../../dev/sandbox/sandbox-state.js";

/** An attempt that was made. One that never arrived here has no capture. */
export interface PastAttempt extends Omit<PastDelivery, "captureId"> {
  captureId: string | null;
}

/** Attempts that were made, and when others come. */
export interface AttemptLine {
  past: readonly PastAttempt[];
  /** ISO 8601. */
  coming: readonly string[];
}

/** The sandbox's attempts at the event; undefined if the event is not of the sandbox. */
export function sandboxAttempts(state: SandboxState | null, eventId: string): AttemptLine | undefined {
  const delivery = state?.deliveries.find((each) => each.eventId === eventId);
  return delivery === undefined ? undefined : attemptLine(delivery);
}

/** The attempts of one delivery of the sandbox. */
export function attemptLine({ attempts, coming }: SandboxDelivery): AttemptLine {
  return { past: attempts.map(pastAttempt), coming: coming.map(({ at }) => at) };
}

/** Which capture an attempt made is not known: some attempts do not arrive, and others arrive twice. */
function pastAttempt({ at, status, outcome, notReceived, error }: SandboxAttempt): PastAttempt {
  return { captureId: null, receivedAt: at, status, outcome, notReceived, error };
}
