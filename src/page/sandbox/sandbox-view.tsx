import { useState } from "preact/hooks";
import { escapeControls } from "../../base/text.js";
import type { SandboxDelivery, SandboxFault, SandboxFaultRule, SandboxState } from "../../dev/sandbox/sandbox-state.js";
import { EVENT_TYPES } from "../../protocol/event-types.js";
import { LIMITS } from "../../protocol/limits.js";
import { AdvanceButton, AttemptDots } from "../detail/attempt-dots.js";
import { endFault, fireEvent, resumeEndpoint, useSandbox } from "../state/sandbox.js";
import { session } from "../state/session.js";
import { formatTime, plural } from "../text/format.js";
import { Badge } from "../ui/badges.js";
import { Button } from "../ui/button.js";
import { Empty } from "../ui/empty.js";
import { Form } from "../ui/form.js";
import { Panel } from "../ui/panel.js";
import { Time } from "../ui/time.js";
import { ApiTables } from "./api-tables.js";
import { ClockPanel } from "./clock-panel.js";
import { CustomFault, FaultPresets } from "./fault-presets.js";

/** The emulated service: its clock, endpoints, injected faults, deliveries, and what its API received. */
export function SandboxView() {
  const state = useSandbox();
  if (session.value?.sandbox === false) {
    return (
      <Empty title="No sandbox" isView>
        <p>A sandbox emulates the service: it sends events here, tries them again, and takes your app's API calls.</p>
        <code>pigeonhole dev --with-sandbox</code>
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
          <Panel title="Deliveries">
            <EmitForm />
            <DeliveryRows deliveries={state.deliveries} />
          </Panel>
          <ApiTables state={state} />
        </div>
        <div class="sandbox-column">
          <Panel title="Faults">
            <FaultPresets />
            <FaultRows faults={state.faults} />
            <details>
              <summary>Custom…</summary>
              <CustomFault />
            </details>
          </Panel>
          <ClockPanel state={state} />
          <Panel title="Endpoints">
            <EndpointRows endpoints={state.endpoints} />
          </Panel>
        </div>
      </div>
    </div>
  );
}

/** Fires a sample event, as the service does when something happens in the workspace. */
function EmitForm() {
  const [type, setType] = useState<string>(EVENT_TYPES[0]);
  return (
    <Form class="sandbox-form" label="Fire an event" run={() => fireEvent(type)}>
      <select aria-label="Type of the event" value={type} onChange={(event) => setType(event.currentTarget.value)}>
        {EVENT_TYPES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Button icon="send" label="Fire the event" type="submit" />
    </Form>
  );
}

/** The deliveries with their attempts, also of events that never arrived here. */
function DeliveryRows({ deliveries }: { deliveries: readonly SandboxDelivery[] }) {
  if (deliveries.length === 0) return <p class="nothing">No delivery yet. Fire an event, or use the API.</p>;
  return (
    <ul class="sandbox-rows sandbox-deliveries" tabIndex={0} aria-label="Deliveries, newest first">
      {deliveries.map((delivery) => {
        const { id, eventId, eventType, attempts } = delivery;
        const coming = delivery.coming.map(({ at }) => at);
        return (
          <li key={id}>
            <Badge {...faceOf(delivery)} />
            <b>{escapeControls(eventType)}</b>
            <code class="hint sandbox-text">{escapeControls(eventId)}</code>
            <span class="hint">{plural(attempts.length, "attempt")} so far</span>
            {attempts.length + coming.length > 1 && <AttemptDots past={attempts} coming={coming} />}
            {attempts.length > 0 && coming.length > 0 && <AdvanceButton eventId={eventId} />}
          </li>
        );
      })}
    </ul>
  );
}

function faceOf({ attempts, coming }: SandboxDelivery) {
  if (coming.length > 0) {
    return attempts.length === 0
      ? ({ word: "on its way", tone: "mute", icon: "arrow" } as const)
      : ({ word: "tried again", tone: "warn", icon: "replay" } as const);
  }
  return attempts.at(-1)?.error === null
    ? ({ word: "delivered", tone: "good", icon: "check" } as const)
    : ({ word: "given up", tone: "bad", icon: "cross" } as const);
}

/** The faults in force. The first that fits decides about an attempt or a call. */
function FaultRows({ faults }: { faults: readonly SandboxFault[] }) {
  if (faults.length === 0) return <p class="hint">None: every attempt is made, and every call answered.</p>;
  return (
    <ul class="sandbox-rows">
      {faults.map(({ id, of, rule, left }) => (
        <li key={id}>
          <span class="tag">{of}</span>
          <b>{escapeControls(rule.fault.kind)}</b>
          <span class="sandbox-text">{describeRule(rule)}</span>
          <span class="hint">{left === null ? "no limit" : `${left} left`}</span>
          <Button
            icon="trash"
            label="Remove"
            class="small danger"
            aria-label={`Remove the fault ${escapeControls(rule.fault.kind)}`}
            run={() => endFault(id)}
          />
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

/** The receiving URLs, and how near each one is to being switched off. */
function EndpointRows({ endpoints }: Pick<SandboxState, "endpoints">) {
  if (endpoints.length === 0) return <p class="nothing">No endpoint: events of the sandbox are lost.</p>;
  return (
    <ul class="sandbox-rows">
      {endpoints.map(({ id, url, eventTypes, enabled, disabledReason, disabledAt, ...rest }) => (
        <li key={id}>
          <code class="sandbox-text">{escapeControls(url)}</code>
          {enabled ? (
            <Badge icon="check" tone="good" word="receives" />
          ) : (
            <Badge icon="cross" tone="bad" word="switched off" />
          )}
          <FailureLevel count={rest.consecutiveFailures} />
          <span class="hint" title={eventTypes.map(escapeControls).join("\n")}>
            {plural(eventTypes.length, "event type")}
          </span>
          {rest.lastDeliveryAt !== null && <Time at={rest.lastDeliveryAt} before="last delivery " class="hint" />}
          {!enabled && (
            <>
              <span class="hint">
                {disabledReason !== null && escapeControls(disabledReason)}
                {disabledAt !== null && ` at ${formatTime(disabledAt)}`}
              </span>
              <Button icon="replay" label="Resume" class="small" run={() => resumeEndpoint(id)} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** How near the failures in a row are to the number at which the service switches an endpoint off. */
function FailureLevel({ count }: { count: number }) {
  const most = LIMITS.disableAfterFailures;
  return (
    <span class="failure-gauge" title={`The service switches an endpoint off after ${most} failures in a row.`}>
      <meter aria-label="Failures in a row" max={most} low={1} high={most / 2} optimum={0} value={count} />
      {Math.min(count, most)} / {most} failed in a row
    </span>
  );
}
