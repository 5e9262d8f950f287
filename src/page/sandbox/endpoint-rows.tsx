import { escapeControls } from "../../base/text.js";
import type { SandboxEndpointRow } from "../../dev/sandbox/sandbox-state.js";
import { FailureLevel } from "../deliveries/failure-gauge.js";
import { resumeEndpoint } from "../state/sandbox.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";

/** The receiving URLs, and how near each one is to being switched off. */
export function EndpointRows({ endpoints }: { endpoints: readonly SandboxEndpointRow[] }) {
  if (endpoints.length === 0) return <p class="nothing">No endpoint: events of the sandbox are lost.</p>;
  return (
    <ul class="sandbox-rows">
      {endpoints.map((endpoint) => (
        <Endpoint key={endpoint.id} endpoint={endpoint} />
      ))}
    </ul>
  );
}

function Endpoint({ endpoint }: { endpoint: SandboxEndpointRow }) {
  const { id, url, eventTypes, enabled, disabledReason, disabledAt, consecutiveFailures, lastDeliveryAt } = endpoint;
  return (
    <li>
      <code class="sandbox-text">{escapeControls(url)}</code>
      <span class={`badge ${enabled ? "good" : "bad"}`}>
        <Icon name={enabled ? "check" : "cross"} />
        <span class="badge-word">{enabled ? "receives" : "switched off"}</span>
      </span>
      <FailureLevel count={consecutiveFailures} />
      <span class="hint" title={eventTypes.map(escapeControls).join("\n")}>
        {plural(eventTypes.length, "event type")}
      </span>
      {lastDeliveryAt !== null && (
        <span class="hint" title={formatExactTime(lastDeliveryAt)}>
          last delivery {formatTime(lastDeliveryAt)}
        </span>
      )}
      {!enabled && (
        <>
          <span class="hint">
            {disabledReason !== null && escapeControls(disabledReason)}
            {disabledAt !== null && ` at ${formatTime(disabledAt)}`}
          </span>
          <button type="button" class="button small" onClick={() => void resumeEndpoint(id)}>
            <Icon name="replay" /> Resume
          </button>
        </>
      )}
    </li>
  );
}
