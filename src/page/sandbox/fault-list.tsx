import { escapeControls } from "../../base/text.js";
import type { SandboxFault, SandboxFaultRule } from "../../dev/sandbox/sandbox-state.js";
import { endFault } from "../state/sandbox.js";
import { Icon } from "../ui/icon.js";

/** The faults in force. The first that fits decides about an attempt or a call. */
export function FaultList({ faults }: { faults: readonly SandboxFault[] }) {
  if (faults.length === 0) return <p class="hint">None: every attempt is made, and every call answered.</p>;
  return (
    <ul class="sandbox-rows">
      {faults.map(({ id, of, rule, left }) => (
        <li key={id}>
          <span class="tag">{of}</span>
          <b>{escapeControls(rule.fault.kind)}</b>
          <span class="sandbox-text">{describeRule(rule)}</span>
          <span class="hint">{left === null ? "no limit" : `${left} left`}</span>
          <button
            type="button"
            class="button small danger"
            aria-label={`Remove the fault ${escapeControls(rule.fault.kind)}`}
            onClick={() => void endFault(id)}
          >
            <Icon name="trash" /> Remove
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Such as `status 503, retryAfter 120 · types email.*, attempt 1`. */
function describeRule({ fault, types, endpointId, attempt, calls, probability }: SandboxFaultRule): string {
  const parts = [
    { ...fault, kind: undefined },
    { types, endpointId, attempt, calls, probability },
  ].map((fields) =>
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name} ${escapeControls(String(value))}`)
      .join(", "),
  );
  return parts.filter((part) => part !== "").join(" · ");
}
