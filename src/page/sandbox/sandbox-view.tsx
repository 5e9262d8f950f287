import { session } from "../state/session.js";
import { useSandbox } from "../state/sandbox.js";
import { Empty } from "../ui/empty.js";
import { ApiTables } from "./api-tables.js";
import { ClockPanel } from "./clock-panel.js";
import { DeliveryRows } from "./delivery-rows.js";
import { EmitForm } from "./emit-form.js";
import { EndpointRows } from "./endpoint-rows.js";
import { FaultForm } from "./fault-form.js";
import { FaultList } from "./fault-list.js";

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
        <ClockPanel state={state} />
        <section class="sandbox-panel" aria-label="Endpoints">
          <h2>Endpoints</h2>
          <EndpointRows endpoints={state.endpoints} />
          <EmitForm />
        </section>
        <section class="sandbox-panel" aria-label="Faults">
          <h2>Faults</h2>
          <FaultList faults={state.faults} />
          <FaultForm />
        </section>
        <section class="sandbox-panel wide" aria-label="Deliveries">
          <h2>Deliveries</h2>
          <DeliveryRows deliveries={state.deliveries} />
        </section>
        <ApiTables state={state} />
      </div>
    </div>
  );
}
