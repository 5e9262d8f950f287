import { EVENT_TYPE_ROWS } from "../state/event-type-rows.js";
import { session } from "../state/session.js";
import { useSandbox, fireEvent, endFault } from "../state/sandbox.js";
import { Empty } from "../ui/empty.js";
import { ApiTables } from "./api-tables.js";
import { ClockPanel } from "./clock-panel.js";
import { DeliveryRows } from "./delivery-rows.js";
import { EndpointRows } from "./endpoint-rows.js";
import { CustomFault, FaultPresets } from "./fault-presets.js";
import { useState } from "preact/hooks";
import { Icon } from "../ui/icon.js";
import { escapeControls } from "../../base/text.js";
import type { SandboxFault, SandboxFaultRule } from "../../dev/sandbox/sandbox-state.js";

/** The emulated service: its clock, endpoints, injected faults, deliveries, and what its API received. */
export function SandboxView() {
  const state = useSandbox();
  if (session.value?.sandbox === false) {
    return (
      <Empty title="No sandbox" isView>
        <p>A sandbox emulates the service: it sends events here, tries them again, and takes your app's API calls.</p>
        <p>
          <code>pigeonhole dev --with-sandbox</code>
        </p>
      </Empty>
    );
  }
  if (state === null) return <section class="sandbox" aria-label="Sandbox" aria-busy="true" />;
  return (
    <div class="sandbox">
      <header class="pane-head">
        <h1>Sandbox</h1>
        <code class="hint">{state.apiUrl}</code>
      </header>
      <div class="sandbox-panels">
        <div class="sandbox-column">
          <section class="sandbox-panel" aria-label="Deliveries">
            <h2>Deliveries</h2>
            <EmitForm />
            <DeliveryRows deliveries={state.deliveries} />
          </section>
          <ApiTables state={state} />
        </div>
        <div class="sandbox-column">
          <section class="sandbox-panel" aria-label="Faults">
            <h2>Faults</h2>
            <FaultPresets />
            <FaultList faults={state.faults} />
            <details>
              <summary>Custom…</summary>
              <CustomFault />
            </details>
          </section>
          <ClockPanel state={state} />
          <section class="sandbox-panel" aria-label="Endpoints">
            <h2>Endpoints</h2>
            <EndpointRows endpoints={state.endpoints} />
          </section>
        </div>
      </div>
    </div>
  );
}

/** Fires a sample event, as the service does when something happens in the workspace. */
function EmitForm() {
  const types = EVENT_TYPE_ROWS;
  const [type, setType] = useState(types[0]?.name ?? "");
  return (
    <form
      class="sandbox-form"
      aria-label="Fire an event"
      onSubmit={(event) => {
        event.preventDefault();
        void fireEvent(type);
      }}
    >
      <select aria-label="Type of the event" value={type} onChange={(event) => setType(event.currentTarget.value)}>
        {types.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit" class="button">
        <Icon name="send" /> Fire the event
      </button>
    </form>
  );
}

/** The faults in force. The first that fits decides about an attempt or a call. */
function FaultList({ faults }: { faults: readonly SandboxFault[] }) {
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
