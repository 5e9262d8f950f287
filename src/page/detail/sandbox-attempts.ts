import type { PastDelivery } from "../../dev/api/page-api.js";
import type { SandboxAttempt, SandboxState } from "../../dev/api/sandbox-state.js";

/** An attempt that was made. One that never arrived here has no capture. */
export interface PastAttempt extends Omit<PastDelivery, "captureId"> {
  captureId: string | null;
}

interface AttemptLine {
  past: PastAttempt[];
  coming: string[];
}

/** The sandbox's attempts at the event; undefined if the event is not of the sandbox. */
export function sandboxAttempts(state: SandboxState | null, eventId: string): AttemptLine | undefined {
  const delivery = state?.deliveries.find((each) => each.eventId === eventId);
  if (delivery === undefined) return undefined;
  return { past: delivery.attempts.map(pastAttempt), coming: delivery.coming.map(({ at }) => at) };
}

/** Which capture an attempt made is not known: some attempts do not arrive, and others arrive twice. */
function pastAttempt({ at, status, error }: SandboxAttempt): PastAttempt {
  return { captureId: null, receivedAt: at, status, outcome: null, error };
}
