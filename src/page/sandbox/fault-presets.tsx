import type { FaultBody } from "../../dev/sandbox/sandbox-state.js";
import { addFault } from "../state/sandbox.js";

/** The faults that one wants most. */
const PRESETS: readonly (FaultBody & { label: string; meaning: string })[] = [
  {
    label: "Fail the next 3",
    meaning: "The next 3 attempts are answered 503 before they arrive.",
    of: "deliveries",
    rule: { fault: { kind: "status", status: 503 }, times: 3 },
  },
  {
    label: "Lose the answer",
    meaning: "The next attempt is handled, and its answer is lost: the service sends it again.",
    of: "deliveries",
    rule: { fault: { kind: "lose_answer" }, times: 1 },
  },
  {
    label: "Deliver twice",
    meaning: "The next attempt is sent twice.",
    of: "deliveries",
    rule: { fault: { kind: "duplicate", copies: 1 }, times: 1 },
  },
  {
    label: "Delay 6 s",
    meaning: "The next attempt is sent 6 s later.",
    of: "deliveries",
    rule: { fault: { kind: "delay", delayMs: 6000 }, times: 1 },
  },
  {
    label: "API down",
    meaning: "Each call of the API is answered 503, until the fault is removed.",
    of: "api",
    rule: { fault: { kind: "error", status: 503 } },
  },
];

/** One button for each. */
export function FaultPresets() {
  return (
    <div class="fault-presets">
      {PRESETS.map(({ label, meaning, ...body }) => (
        <button key={label} type="button" class="button" title={meaning} onClick={() => void addFault(body)}>
          {label}
        </button>
      ))}
    </div>
  );
}
